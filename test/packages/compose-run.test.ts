// deploy/compose.yaml with podman-compose and the image of script/image.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { makeReadmeRequests } from "../fixtures/readme-requests.ts";
import { until } from "../fixtures/until.ts";
import { recognizeSample, sandboxOf } from "./ask-service.ts";
import { openContainers, whyNoContainers } from "./containers.ts";
import { enterOwnNetwork, whyNoOwnNetwork } from "./own-network.ts";
import { podmanCompose } from "./podman-compose.ts";

const hasCompose = spawnSync("podman-compose", ["--version"]).status === 0;
const skip =
  (await whyNoContainers()) ??
  whyNoOwnNetwork() ??
  (hasCompose ? false : "podman-compose is not installed: script/setup --packages");
const limits = { skip, timeout: 3_600_000 };
const image = "localhost/hlust:test";
/** The port that the compose file publishes. */
const address = "http://127.0.0.1:8080";

const containers = openContainers();
const compose = podmanCompose(containers.folder, image);
before(async () => {
  if (skip !== false) return;
  await containers.build(image);
  // The port is free in a network of its own.
  enterOwnNetwork();
});
after(async () => {
  if (skip === false) await compose("down").catch(() => {});
  await containers[Symbol.asyncDispose]();
});

/** Starts the service. podman-compose exits with 0 even if that fails. */
async function up(): Promise<void> {
  const output = await compose("up", "--detach");
  assert.notEqual(await containers.podman("ps", "--quiet"), "", output);
  await untilStarted();
}

async function untilStarted(): Promise<void> {
  await until(async () => (await fetch(`${address}/startupz`)).status === 200, 300_000);
}

/** Returns the folder of the volume, and the first key in it. */
async function volume(): Promise<{ readonly folder: string; readonly key: string }> {
  const [name = "", ...more] = (await containers.podman("volume", "ls", "--quiet")).split("\n");
  assert.equal(more.length, 0, "the compose file has one volume");
  const folder = await containers.podman("volume", "inspect", "--format", "{{.Mountpoint}}", name);
  return { folder, key: readFileSync(join(folder, "api-key"), "utf8").trim() };
}

async function listTranscripts(key: string): Promise<readonly string[]> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${address}/v1alpha1/transcripts`, { headers });
  const page: { transcripts: { name: string }[] } = JSON.parse(await response.text());
  return page.transcripts.map(({ name }) => name).toSorted();
}

test(
  "compose.yaml starts a service without privileges that answers the README's requests",
  limits,
  async () => {
    await up();
    assert.equal(await sandboxOf(address), "bubblewrap-without-proc");
    await makeReadmeRequests({ address, dataFolder: (await volume()).folder });
  },
);

test("a service that is killed is started again, with its data", limits, async () => {
  const { key, folder } = await volume();
  const before = await listTranscripts(key);
  assert.ok(before.length >= 3);
  const id = await containers.podman("ps", "--quiet");
  const pid = await containers.podman("inspect", "--format", "{{.State.Pid}}", id);
  process.kill(Number(pid), "SIGKILL");
  await until(async () => {
    return (await containers.podman("inspect", "--format", "{{.State.Pid}}", id)) !== pid;
  }, 60_000);
  await untilStarted();
  assert.deepEqual(await listTranscripts(key), before);
  await recognizeSample(address, folder);
});

test(
  "`down` stops the service in time, and `up` brings it back with its data",
  limits,
  async () => {
    const { key } = await volume();
    const before = await listTranscripts(key);
    await compose("stop");
    const id = await containers.podman("ps", "--all", "--quiet");
    assert.equal(await containers.podman("inspect", "--format", "{{.State.ExitCode}}", id), "0");
    await compose("down");
    assert.equal(await containers.podman("ps", "--all", "--quiet"), "");
    await up();
    assert.deepEqual(await listTranscripts(key), before);
    const check = await containers.podman("ps", "--quiet");
    assert.match(await containers.podman("exec", check, "hlust", "fsck"), /^Nothing is wrong/);
  },
);
