// The pod of the chart, run by Podman from what Helm renders.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { parseAllDocuments, stringify } from "yaml";
import { helmProgram } from "../../script/helm.ts";
import { makeReadmeRequests } from "../fixtures/readme-requests.ts";
import { until } from "../fixtures/until.ts";
import { recognizeSample, sandboxOf, transcriptNames } from "./ask-service.ts";
import type { Containers } from "./containers.ts";

const root = resolve(import.meta.dirname, "../..");
const token = "a-token-for-the-metrics-of-the-pod";

// oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
type Manifest = any;

/** Tests the pod of `mode: single`: its requests, its probes, and its data after a kill. */
export function testChart(
  containers: Containers,
  tag: string,
  options: { readonly skip: string | boolean; readonly timeout: number },
): void {
  test(
    "the chart's pod answers the README's requests and its probes, and comes back after a kill",
    options,
    async (t) => {
      const data = groupsFolder(join(containers.folder, "claim"));
      const { pod, config, secret } = podOf(render(tag), data);
      const [container] = pod.spec.containers;
      const { name } = pod.metadata;
      const id = `${name}-${container.name}`;
      const inspect = (what: string, format: string) =>
        containers.podman("inspect", "--format", format, what);
      const pidOf = async () => Number(await inspect(id, "{{.State.Pid}}"));

      const secretFile = join(containers.folder, "secret.json");
      writeFileSync(secretFile, JSON.stringify(secret.json));
      await containers.podman("secret", "create", secret.name, secretFile);
      const file = join(containers.folder, "pod.yaml");
      writeFileSync(file, `${stringify(config)}---\n${stringify(pod)}`);
      const began = performance.now();
      await containers.podman("play", "kube", file);

      const infra = await containers.podman(
        "pod",
        "inspect",
        "--format={{.InfraContainerID}}",
        name,
      );
      const host = await inspect(infra, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
      const at = (port: string): string => {
        const found = container.ports.find((one: Manifest) => one.name === port);
        return `http://${host}:${found.containerPort}`;
      };
      const address = at("http");
      const answers = async ({ httpGet: { path, port } }: Manifest) =>
        (await fetch(`${at(port)}${path}`).catch(() => undefined))?.status === 200;
      await until(() => answers(container.startupProbe), 300_000);
      t.diagnostic(`started in ${((performance.now() - began) / 1_000).toFixed(1)} s`);
      assert.ok(await answers(container.livenessProbe));
      assert.ok(await answers(container.readinessProbe));
      assert.equal(await sandboxOf(address), "bubblewrap-without-proc");
      const metrics = await fetch(`${at("metrics")}/metrics`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      assert.match(await metrics.text(), /^hlust_live_load_ratio /m);
      await makeReadmeRequests({ address, dataFolder: data });
      const before = await transcriptNames(address, data);
      assert.ok(before.length >= 3);

      const first = await pidOf();
      process.kill(first, "SIGKILL");
      await until(async () => ![0, first].includes(await pidOf()), 120_000);
      await until(() => answers(container.startupProbe), 300_000);
      assert.deepEqual(await transcriptNames(address, data), before);
      await recognizeSample(address, data);
      assert.match(await containers.podman("exec", id, "hlust", "fsck"), /^Nothing is wrong/);
      await containers.podman("play", "kube", "--down", file);
    },
  );
}

/** Renders the chart with the image of this tag. */
function render(tag: string): Manifest[] {
  const [repository, version] = tag.split(":");
  const values = `image.repository=${repository},image.tag=${version}`;
  const chart = join(root, "deploy/helm/hlust");
  const given = ["template", "speech", chart, "--namespace", "asr", "--set", values];
  const rendered = execFileSync(helmProgram(root), given, { encoding: "utf8" });
  return parseAllDocuments(rendered)
    .map((document) => document.toJS())
    .filter((one) => one !== null);
}

/**
 * Returns the pod that Kubernetes makes of the rendered StatefulSet, which Podman does not know,
 * with a folder as its claim, and what the pod refers to.
 */
function podOf(manifests: readonly Manifest[], claim: string) {
  const set = manifests.find(({ kind }) => kind === "StatefulSet");
  const config = manifests.find(({ kind }) => kind === "ConfigMap");
  const { template, volumeClaimTemplates } = set.spec;
  assert.deepEqual(
    volumeClaimTemplates.map(({ metadata }: Manifest) => metadata.name),
    ["data"],
  );
  const volume = { name: "data", hostPath: { path: claim, type: "Directory" } };
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    // Podman 4.3 refuses annotations of more than 63 characters, such as the checksum of settings.
    metadata: { name: `${set.metadata.name}-0`, labels: template.metadata.labels },
    spec: { ...template.spec, volumes: [...template.spec.volumes, volume] },
  };
  const [{ env }] = template.spec.containers;
  const { valueFrom } = env.find(({ name }: Manifest) => name === "HLUST_METRICS_TOKEN");
  const { name, key } = valueFrom.secretKeyRef;
  // What Podman 4.3 reads in place of a Secret.
  const secret = { name, json: { [key]: Buffer.from(token).toString("base64") } };
  return { pod, config, secret };
}

/** Makes a folder as Kubernetes leaves a new volume: root's, and writable for the pod's group. */
function groupsFolder(path: string): string {
  mkdirSync(path);
  chownSync(path, 0, 10_001);
  chmodSync(path, 0o2775);
  return path;
}
