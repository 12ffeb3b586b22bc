// The Helm chart: linted and rendered with each file of deploy/helm/hlust/ci by Helm itself, and
// checked against the schemas and types of Kubernetes, which refuse unknown fields.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { helmProgram } from "../../script/helm.ts";
import { readConfig } from "../../src/config.ts";
import { describeSettings } from "../../src/settings/describe-settings.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const chart = join(root, "deploy/helm/hlust");
const tools = join(root, "node_modules/.tools");
const values = globSync("ci/*.yaml", { cwd: chart }).toSorted();

// oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
type Manifest = any;

let folder: string;
let helm: string;
const rendered = new Map<string, readonly Manifest[]>();

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-chart-"));
  helm = helmProgram(root);
  for (const file of values) rendered.set(file, await render("--values", join(chart, file)));
});
after(async () => await rm(folder, { recursive: true }));

/** Renders the chart. Throws Helm's message for values that it refuses. */
async function render(...args: string[]): Promise<Manifest[]> {
  const { stdout } = await run(helm, ["template", "speech", chart, "--namespace", "asr", ...args]);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter((one) => one !== null);
}

function ofKind(manifests: readonly Manifest[], kind: string): Manifest[] {
  return manifests.filter((one) => one.kind === kind);
}

/** Returns what runs pods: StatefulSets and Deployments. */
function podsOf(manifests: readonly Manifest[]): Manifest[] {
  return [...ofKind(manifests, "StatefulSet"), ...ofKind(manifests, "Deployment")];
}

test("six sets of values are linted without a warning", async () => {
  assert.equal(values.length, 6);
  for (const file of values) {
    const { stdout } = await run(helm, ["lint", "--strict", chart, "--values", join(chart, file)]);
    assert.match(stdout, /1 chart\(s\) linted, 0 chart\(s\) failed/);
  }
});

for (const file of values) {
  describe(basename(file), () => {
    test("satisfies the schemas of Kubernetes", async () => {
      for (const manifest of rendered.get(file) ?? []) {
        const models = await import(moduleOf(manifest));
        new models[manifest.kind](manifest).validate();
      }
    });

    test("has no field that Kubernetes does not know", async () => {
      await typeCheck(basename(file, ".yaml"), rendered.get(file) ?? []);
    });

    test("each pod runs without privileges, on a read-only root, for longer than its drain", () => {
      for (const { spec } of podsOf(rendered.get(file) ?? [])) {
        const pod = spec.template.spec;
        assert.equal(pod.securityContext.runAsNonRoot, true);
        assert.equal(pod.automountServiceAccountToken, false);
        // A Service called hlust would otherwise set HLUST_PORT.
        assert.equal(pod.enableServiceLinks, false);
        const [container] = pod.containers;
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        const env = (name: string): number => {
          const found = container.env.find((one: { name: string }) => one.name === name);
          return Number.parseInt(found?.value ?? "0", 10);
        };
        const lastsSeconds = env("HLUST_DRAIN") + env("HLUST_DRAIN_DELAY") + 30;
        assert.ok(pod.terminationGracePeriodSeconds > lastsSeconds);
      }
    });

    test("sets only settings that the service has and accepts", () => {
      const known = new Set(describeSettings({}).match(/^[A-Z][A-Z0-9_]+/gm));
      const manifests = rendered.get(file) ?? [];
      const names = [
        ...ofKind(manifests, "ConfigMap").flatMap(({ data }) => Object.keys(data)),
        ...podsOf(manifests).flatMap(({ spec }) =>
          spec.template.spec.containers[0].env.map(({ name }: { name: string }) => name),
        ),
      ];
      assert.ok(names.length > 3);
      assert.deepEqual(
        names.filter((name) => !known.has(name)),
        [],
      );
      for (const { spec } of podsOf(manifests)) {
        assert.ok(configOf(manifests, spec.template.spec.containers[0].env).port > 0);
      }
    });

    test("what selects pods finds the pods that there are", () => {
      const manifests = rendered.get(file) ?? [];
      const labels = podsOf(manifests).map(({ spec }) => spec.template.metadata.labels);
      const selectors = [
        ...ofKind(manifests, "Service").map(({ spec }) => spec.selector),
        ...[...podsOf(manifests), ...ofKind(manifests, "PodDisruptionBudget")].map(
          ({ spec }) => spec.selector.matchLabels,
        ),
        ...ofKind(manifests, "NetworkPolicy").map(({ spec }) => spec.podSelector.matchLabels),
      ];
      for (const selector of selectors) {
        const isFound = labels.some((own) =>
          Object.entries(selector).every(([name, value]) => own[name] === value),
        );
        assert.ok(isFound, JSON.stringify(selector));
      }
    });
  });
}

test("an autoscaled deployment has no number of replicas, which would undo the scaling", () => {
  const manifests = rendered.get("ci/autoscaled.yaml") ?? [];
  const scaled = [
    ...ofKind(manifests, "HorizontalPodAutoscaler"),
    ...ofKind(manifests, "ScaledObject"),
  ].map(({ spec }) => spec.scaleTargetRef.name);
  assert.deepEqual(new Set(scaled), new Set(["speech-hlust-api", "speech-hlust-worker"]));
  for (const { spec } of ofKind(manifests, "Deployment")) assert.equal(spec.replicas, undefined);
  const fixed = ofKind(rendered.get("ci/cluster.yaml") ?? [], "Deployment");
  assert.deepEqual(
    fixed.map(({ spec }) => spec.replicas),
    [2, 2],
  );
});

test("with engines apart, all pods have their credential, and only the others use them", () => {
  const manifests = rendered.get("ci/engines.yaml") ?? [];
  const service = ofKind(manifests, "Service").find(({ spec }) => spec.clusterIP === "None");
  for (const { metadata, spec } of ofKind(manifests, "Deployment")) {
    const [{ env, ports }] = spec.template.spec.containers;
    const found = (name: string) => env.find((one: { name: string }) => one.name === name);
    const isEngine = metadata.name === "speech-hlust-engine";
    assert.equal(found("HLUST_ENGINE_CREDENTIAL").valueFrom.secretKeyRef.name, "hlust-engines");
    const engines = isEngine ? undefined : `${service.metadata.name}:${service.spec.ports[0].port}`;
    assert.equal(found("HLUST_ENGINES")?.value, engines);
    assert.equal(found("DATABASE_URL") === undefined, isEngine, "an engine node has no database");
    const listens = ports.some(({ name }: { name: string }) => name === "engine");
    assert.equal(listens, isEngine);
    const { role, engines: read } = configOf(manifests, env);
    assert.equal(role, metadata.name.split("-").at(-1));
    assert.equal(read.listen?.port, isEngine ? 8090 : undefined);
    assert.equal(read.nodes?.names[0]?.host, isEngine ? undefined : service.metadata.name);
  }
  const [policy] = ofKind(manifests, "NetworkPolicy");
  const rule = policy.spec.ingress.find(({ ports: [{ port }] }: Manifest) => port === "engine");
  assert.deepEqual(rule.from, [{ podSelector: policy.spec.podSelector }]);
});

test("pods that answer calls and workers send mail by a secret, and engine nodes do not", async () => {
  const values = ["--values", join(chart, "ci/engines.yaml")];
  const mail = ["--set", "mail.secretName=hlust-mail,mail.secretKey=smtp,mail.perDay=40"];
  const from = "Hlust <hlust@example.org>";
  const manifests = await render(...values, ...mail, "--set-string", `mail.from=${from}`);
  const deployments = ofKind(manifests, "Deployment");
  assert.equal(deployments.length, 3);
  for (const { metadata, spec } of deployments) {
    const [{ env }] = spec.template.spec.containers;
    const url = env.find(({ name }: Manifest) => name === "HLUST_SMTP_URL");
    if (metadata.name === "speech-hlust-engine") {
      assert.equal(url, undefined);
      continue;
    }
    assert.deepEqual(url.valueFrom, { secretKeyRef: { name: "hlust-mail", key: "smtp" } });
    const { mail: read } = configOf(manifests, env);
    assert.deepEqual([read.isSent, read.perDayMax], [true, 40]);
    // Pods that answer calls only write down what workers send.
    const isWorker = metadata.name === "speech-hlust-worker";
    assert.equal(read.sending?.server.host, isWorker ? "mail.example.org" : undefined);
  }
});

/**
 * Returns the settings of a container as the service reads them, with values for those of secrets.
 * Throws if it refuses them.
 */
function configOf(manifests: readonly Manifest[], env: readonly Manifest[]) {
  const secrets: Readonly<Record<string, string>> = {
    DATABASE_URL: "postgres://hlust@database/hlust",
    HLUST_SMTP_URL: "smtp://hlust:password@mail.example.org:587",
  };
  const own = env.map(({ name, value }) => [name, value ?? secrets[name] ?? "a-value-of-a-secret"]);
  const shared = ofKind(manifests, "ConfigMap").map(({ data }) => data);
  return readConfig(Object.assign({}, ...shared, Object.fromEntries(own)));
}

test("the profiles of the machine that confine a pod can be chosen", async () => {
  const confined = (manifests: readonly Manifest[]) =>
    podsOf(manifests).map(({ spec }) => {
      const { seccompProfile, appArmorProfile } = spec.template.spec.securityContext;
      return { seccompProfile, appArmorProfile };
    });
  const chosen = {
    seccompProfile: { type: "Localhost", localhostProfile: "hlust.json" },
    appArmorProfile: { type: "Unconfined" },
  };
  assert.deepEqual(confined(rendered.get("ci/hardened.yaml") ?? []), [chosen, chosen]);
  const own = { seccompProfile: { type: "RuntimeDefault" }, appArmorProfile: undefined };
  assert.deepEqual(confined(rendered.get("ci/single.yaml") ?? []), [own]);
  const named = ["--set", "appArmor.type=Localhost,appArmor.localhostProfile=hlust"];
  const [{ appArmorProfile } = {}] = confined(await render(...named));
  assert.deepEqual(appArmorProfile, { type: "Localhost", localhostProfile: "hlust" });
});

test("secrets are named, and never written into what is rendered", () => {
  for (const manifests of rendered.values()) {
    assert.deepEqual(ofKind(manifests, "Secret"), []);
    for (const { data } of ofKind(manifests, "ConfigMap")) {
      for (const name of Object.keys(data))
        assert.doesNotMatch(name, /SECRET|TOKEN|DATABASE_URL|SMTP/);
    }
  }
});

for (const [what, args, problem] of [
  ["an unknown value", ["--set", "replicas=3"], /replicas/],
  ["a wrong type", ["--set", "api.replicas=two"], /api\/replicas/],
  ["a setting in small letters", ["--set", "settings.hlust_log=debug"], /hlust_log/],
  ["a cluster without a database", ["--set", "mode=cluster"], /database\.secretName is required/],
  ["an ingress without a host", ["--set", "ingress.enabled=true"], /ingress\.host is required/],
  ["mail without a sender", ["--set", "mail.secretName=mail"], /mail\.from is required/],
  ["a sender without a server", ["--set", "mail.from=a@b.is"], /mail\.secretName is required/],
  ["a sender without an address", ["--set", "mail.from=Hlust"], /mail\/from/],
  [
    "mail without the address of the service",
    ["--set", "mail.secretName=mail,mail.from=a@b.is"],
    /publicUrl is required with mail\.secretName/,
  ],
  [
    "a profile of AppArmor without its name",
    ["--set", "appArmor.type=Localhost"],
    /appArmor\.localhostProfile is required/,
  ],
  [
    "engines apart in a single pod",
    ["--set", "engine.enabled=true"],
    /engine\.enabled needs mode: cluster/,
  ],
  [
    "engines apart without a credential",
    ["--values", join(chart, "ci/cluster.yaml"), "--set", "engine.enabled=true"],
    /engine\.credentialSecretName is required/,
  ],
  [
    "KEDA without Prometheus",
    ["--values", join(chart, "ci/cluster.yaml"), "--set", "worker.autoscaling.kind=keda"],
    /prometheusUrl is required/,
  ],
] as const) {
  test(`${what} is refused with its name`, async () => {
    await assert.rejects(render(...args), ({ stderr }) => {
      assert.match(stderr, problem);
      return true;
    });
  });
}

/** Returns the module of the tools that has the model of a manifest. */
function moduleOf({ apiVersion, kind }: Manifest): string {
  const path = `node_modules/${packageOf(apiVersion)}/${apiVersion}/${kind}.js`;
  return pathToFileURL(join(tools, path)).href;
}

function packageOf(apiVersion: string): string {
  const [group = ""] = apiVersion.split("/");
  const others: Record<string, string> = {
    "keda.sh": "@kubernetes-models/keda",
    "monitoring.coreos.com": "@kubernetes-models/prometheus-operator",
  };
  return others[group] ?? "kubernetes-models";
}

/** Fails if a manifest, written as an object of its type, has a wrong or an unknown field. */
async function typeCheck(name: string, manifests: readonly Manifest[]): Promise<void> {
  const project = join(folder, `types-${name}`);
  await mkdir(project);
  await symlink(join(tools, "node_modules"), join(project, "node_modules"));
  const lines = manifests.map((manifest: Manifest, at) => {
    const { apiVersion, kind } = manifest;
    const from = `${packageOf(apiVersion)}/${apiVersion}/${kind}`;
    return `import type { I${kind} as I${at} } from "${from}";
export const manifest${at}: I${at} = ${JSON.stringify(manifest)};`;
  });
  await writeFile(join(project, "manifests.ts"), lines.join("\n"));
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--ignoreConfig"];
  const modules = ["--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022"];
  const tsc = join(root, "node_modules/.bin/tsc");
  await run(tsc, [...options, ...modules, "manifests.ts"], { cwd: project }).catch((error) => {
    assert.fail(error.stdout);
  });
}
