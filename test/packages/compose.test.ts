// deploy/compose.yaml and compose.cluster.yaml name only what exists.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { readConfig } from "../../src/config.ts";
import { describeSettings } from "../../src/settings/describe-settings.ts";
import { deployFolder as deploy, neededBy, readComposition as read } from "./composition.ts";

const knownSettings = new Set(describeSettings({}).match(/^[A-Z][A-Z0-9_]+$/gm));

/** The parts of metrics, which the cluster uses and a version without metrics does not have. */
const metrics = new Set(
  knownSettings.has("HLUST_METRICS_LISTEN")
    ? []
    : ["HLUST_METRICS_LISTEN", "./prometheus/alerts.yml", "./grafana"],
);

for (const name of ["compose.yaml", "compose.cluster.yaml"]) {
  const { services, volumes = {}, networks = {} } = read(name);

  test(`${name} names files, volumes, networks and services that exist`, () => {
    assert.ok(Object.keys(services).length > 0);
    for (const [service, { build, ...more }] of Object.entries(services)) {
      if (build) assert.ok(existsSync(join(deploy, build.context, build.dockerfile)), service);
      for (const mount of more.volumes ?? []) {
        const [source = ""] = mount.split(":");
        if (metrics.has(source)) continue;
        const isThere = source.startsWith(".")
          ? existsSync(join(deploy, source))
          : Object.hasOwn(volumes, source);
        assert.ok(isThere, `${service}: ${mount}`);
      }
      for (const network of more.networks ?? [])
        assert.ok(Object.hasOwn(networks, network), network);
      for (const other of neededBy(more)) {
        assert.ok(Object.hasOwn(services, other), `${service}: ${other}`);
      }
    }
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    for (const volume of Object.keys(volumes)) {
      assert.ok(
        mounted.some((mount) => mount.startsWith(`${volume}:`)),
        `${volume} is not used`,
      );
    }
  });

  test(`${name} sets only settings that exist, and images have a version`, () => {
    for (const [service, { image, environment = {} }] of Object.entries(services)) {
      assert.match(
        image,
        /^(?:\$\{HLUST_IMAGE:-hlust:\d+\.\d+\.\d+\}|docker\.io\/[\w./-]+:v?\d[\w.]*)$/,
        service,
      );
      if (!image.includes("HLUST_IMAGE")) continue;
      const unknown = Object.keys(environment).filter(
        (setting) => !knownSettings.has(setting) && !metrics.has(setting),
      );
      assert.deepEqual(unknown, [], service);
    }
  });

  test(`${name} builds the service, and runs it without privileges, with a profile for the sandbox`, () => {
    const own = Object.values(services).filter(({ image }) => image.includes("HLUST_IMAGE"));
    assert.ok(own.length > 0);
    for (const service of own) {
      // Without it compose would look for the image in a registry.
      const build = { context: "..", dockerfile: "deploy/Containerfile" };
      assert.deepEqual(service.build, build);
      assert.deepEqual(service.cap_drop, ["ALL"]);
      assert.equal(service.read_only, true);
      const options = ["no-new-privileges:true", "seccomp:seccomp.json"];
      assert.deepEqual(service.security_opt, options);
      assert.ok(existsSync(join(deploy, "seccomp.json")));
      // The drain of 30 s, and 30 s more; in the cluster the delay of 10 s as well.
      const delaySeconds = Number.parseInt(service.environment?.["HLUST_DRAIN_DELAY"] ?? "0", 10);
      assert.ok(Number.parseInt(service.stop_grace_period ?? "0", 10) >= 60 + delaySeconds);
    }
  });
}

/** Returns an environment as containers get it: `passedOn` has what is null in the file. */
function given(
  environment: Readonly<Record<string, string | null>>,
  passedOn: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const set = Object.entries(environment).map(([name, value]) => [
    name,
    value === null ? passedOn[name] : value.replaceAll(/\$\{[^}]+\}/g, "a-value-of-the-file"),
  ]);
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}

test("nodes get the settings of mail from deploy/.env, and start without them", () => {
  const example = readFileSync(join(deploy, "cluster/environment.example"), "utf8");
  const lines = [...example.matchAll(/^#(HLUST_[A-Z_]+)=(.+)$/gm)];
  const mail: Record<string, string> = Object.fromEntries(
    lines.map(([, name = "", value = ""]) => [name, value]),
  );
  const address = "https://hlust.example.org";
  for (const [file, nodes] of [
    ["compose.yaml", ["hlust"]],
    ["compose.cluster.yaml", ["api1", "api2", "worker"]],
  ] as const) {
    for (const node of nodes) {
      const { environment = {} } = read(file).services[node] ?? {};
      assert.equal(readConfig(given(environment)).mail.isSent, false, node);
      const passedOn = { HLUST_PUBLIC_URL: address, ...mail, HLUST_MAILS_PER_DAY: "40" };
      const { isSent, sending, perDayMax } = readConfig(given(environment, passedOn)).mail;
      assert.deepEqual([isSent, perDayMax], [true, 40], node);
      // API nodes only accept the call.
      const host = node.startsWith("api") ? undefined : "mail.example.org";
      assert.equal(sending?.server.host, host, node);
    }
  }
});

test("the cluster's own version of the image is that of the package", () => {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(deploy, "../package.json"), "utf8"),
  );
  for (const name of ["compose.yaml", "compose.cluster.yaml"]) {
    const images = Object.values(read(name).services).map(({ image }) => image);
    assert.ok(images.includes(`\${HLUST_IMAGE:-hlust:${version}}`), name);
  }
});

test("the cluster's Caddy has the configuration of docs/operations, which tests run", () => {
  const rules = (path: string) =>
    readFileSync(join(deploy, path), "utf8").replaceAll(/^#.*\n/gm, "");
  const shown = rules("../docs/operations/Caddyfile")
    .replaceAll("10.0.0.11:8080", "api1:8080")
    .replaceAll("10.0.0.12:8080", "api2:8080")
    .replace("hlust.example.org", "{$DOMAIN}");
  assert.equal(rules("cluster/Caddyfile"), shown);
});

test("the cluster's database is healthy only when other nodes can connect to it", () => {
  // The image also runs a server while it makes the database, which listens on a socket alone.
  const check = read("compose.cluster.yaml").services["postgres"]?.healthcheck?.test ?? [];
  assert.deepEqual(check.slice(0, 2), ["CMD", "pg_isready"]);
  assert.ok(check.includes("--host=127.0.0.1"), check.join(" "));
});

test("the bucket of the cluster is made again until the store has it", () => {
  const { services } = read("compose.cluster.yaml");
  const bucket = services["api1"]?.environment?.["S3_BUCKET"];
  const script = [services["bucket"]?.command ?? []].flat().join("\n");
  const folder = mkdtempSync(join(tmpdir(), "hlust-bucket-"));
  try {
    // As weed does, it exits with 0 even if a command fails. The first two fail.
    const weed = `#!/bin/sh
read -r command
echo "$command" >>"$0.log"
times=$(wc -l <"$0.log")
case $command in
  "s3.bucket.create -name "*) [ "$times" -lt 3 ] || touch "$0.made" ;;
  s3.bucket.list) [ ! -e "$0.made" ] || printf '  ${bucket}\\tsize:0\\tchunk:0\\n' ;;
esac
`;
    writeFileSync(join(folder, "weed"), weed, { mode: 0o755 });
    writeFileSync(join(folder, "sleep"), "#!/bin/sh\n", { mode: 0o755 });
    const PATH = `${folder}:/usr/bin:/bin`;
    const options = { env: { PATH }, encoding: "utf8", timeout: 20_000 } as const;
    const { status, stderr } = spawnSync("/bin/sh", ["-c", script], options);
    assert.equal(status, 0, stderr);
    assert.ok(existsSync(join(folder, "weed.made")), "the bucket was made");
    // A second `up` finds the bucket, and makes none.
    assert.equal(spawnSync("/bin/sh", ["-c", script], options).status, 0);
    const commands = readFileSync(join(folder, "weed.log"), "utf8").trim().split("\n");
    assert.equal(commands.at(-1), "s3.bucket.list");
    const made = commands.filter((command) => command === `s3.bucket.create -name ${bucket}`);
    assert.equal(made.length, 2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the files of the cluster name its services, and the addresses of its network", () => {
  const { services, networks = {} } = read("compose.cluster.yaml");
  const caddyfile = readFileSync(join(deploy, "cluster/Caddyfile"), "utf8");
  const upstreams = caddyfile.match(/\b[a-z]+\d(?=:8080)/g) ?? [];
  assert.deepEqual([...new Set(upstreams)], ["api1", "api2"]);
  const scraped: { scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[] } =
    parse(readFileSync(join(deploy, "cluster/prometheus.yml"), "utf8"));
  const targets = scraped.scrape_configs[0]?.dns_sd_configs[0];
  assert.deepEqual(
    targets?.names,
    Object.keys(services).filter((name) => /^(?:api\d|worker|engine)$/.test(name)),
  );
  for (const name of targets?.names ?? []) {
    const environment = services[name]?.environment ?? {};
    assert.equal(environment["HLUST_METRICS_LISTEN"], `0.0.0.0:${targets?.port}`);
    const subnet = networks["nodes"]?.ipam.config[0]?.subnet;
    // The proxy passes no calls to an engine node.
    if (name !== "engine") assert.equal(environment["HLUST_TRUSTED_PROXIES"], subnet);
    // The service accepts the settings as a whole, with values for those of deploy/.env.
    assert.equal(readConfig(given(environment)).role, name.replace(/\d$/, ""));
  }
  const wanted = new Set(
    readFileSync(join(deploy, "compose.cluster.yaml"), "utf8").match(/(?<=\$\{)[A-Z0-9_]+/g),
  );
  wanted.delete("HLUST_IMAGE");
  const example = readFileSync(join(deploy, "cluster/environment.example"), "utf8");
  assert.deepEqual([...wanted].toSorted(), (example.match(/^[A-Z0-9_]+(?==)/gm) ?? []).toSorted());
});
