// The container image, built by script/image from a Debian made here and run without privileges.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { makeReadmeRequests } from "../fixtures/readme-requests.ts";
import { recognizeSample, sandboxOf, transcriptNames } from "./ask-service.ts";
import { testChart } from "./chart-in-podman.ts";
import { openContainers, whyNoContainers } from "./containers.ts";
import { testDecoders } from "./decode-in-image.ts";
import { testArchitectures } from "./image-architectures.ts";
import { testSameBytes } from "./image-twice.ts";

const root = resolve(import.meta.dirname, "../..");
const skip = (await whyNoContainers()) ?? false;
const containers = openContainers();
after(() => containers[Symbol.asyncDispose]());
const tag = "localhost/hlust:test";
const limits = { skip, timeout: 3_600_000 };

test(
  "script/image builds an image of less than 900 MB, without tools that build",
  limits,
  async (t) => {
    const seconds = await containers.build(tag);
    const bytes = Number(await containers.podman("image", "inspect", "--format", "{{.Size}}", tag));
    t.diagnostic(`built in ${seconds.toFixed(0)} s, ${(bytes / 1e6).toFixed(0)} MB unpacked`);
    assert.ok(bytes > 300e6 && bytes < 900e6, `${bytes} bytes`);
    const inspected: [
      {
        Healthcheck: { Test: string[] };
        Config: {
          User: string;
          Volumes: object;
          StopSignal: string;
          Labels: Record<string, string>;
        };
      },
    ] = JSON.parse(await containers.podman("image", "inspect", tag));
    const [{ Config: config, Healthcheck: health }] = inspected;
    assert.equal(config.User, "10001:10001");
    assert.deepEqual(Object.keys(config.Volumes), ["/var/lib/hlust"]);
    assert.equal(config.StopSignal, "SIGTERM");
    assert.deepEqual(health.Test, ["CMD", "hlust", "healthcheck"]);
    const { version }: { version: string } = JSON.parse(
      readFileSync(join(root, "package.json"), "utf8"),
    );
    assert.equal(config.Labels["org.opencontainers.image.version"], version);
    assert.match(config.Labels["org.opencontainers.image.revision"] ?? "", /^[0-9a-f]{40}$/);
    const tools =
      "for tool in gcc cc make npm npx python3 git tsc vite; do command -v $tool; done; true";
    assert.equal(await containers.runOnce(tag, ["sh", "-c", tools]), "");
    const bill: { components: { purl: string }[] } = JSON.parse(
      readFileSync(join(root, `dist/hlust-${version}.cdx.json`), "utf8"),
    );
    for (const part of [/^pkg:npm\/ws@/, /^pkg:deb\/debian\/ffmpeg@/, /^pkg:deb\/debian\/libc6@/]) {
      assert.ok(
        bill.components.some(({ purl }) => part.test(purl)),
        String(part),
      );
    }
  },
);

test(
  "a container without privileges answers the README's requests, and comes back after a kill",
  limits,
  async (t) => {
    const volume = containers.volume("data");
    const began = performance.now();
    const first = await containers.start({ tag, volume });
    await first.started();
    t.diagnostic(
      `started in ${((performance.now() - began) / 1_000).toFixed(1)} s on an empty volume`,
    );
    assert.equal(await sandboxOf(first.address), "bubblewrap-without-proc");
    assert.match(await containers.podman("exec", first.id, "hlust", "healthcheck"), /started/);
    await makeReadmeRequests({ address: first.address, dataFolder: volume });
    const before = await transcriptNames(first.address, volume);
    assert.ok(before.length >= 3);
    await containers.podman("kill", "--signal", "KILL", first.id);
    assert.equal((await first.ended()).code, 137);

    const beganAgain = performance.now();
    const second = await containers.start({ tag, volume });
    await second.started();
    t.diagnostic(
      `started in ${((performance.now() - beganAgain) / 1_000).toFixed(1)} s after a kill`,
    );
    assert.deepEqual(await transcriptNames(second.address, volume), before);
    await recognizeSample(second.address, volume);
    assert.match(await containers.podman("exec", second.id, "hlust", "fsck"), /^Nothing is wrong/);
    await containers.podman("stop", "--time", "60", second.id);
    assert.equal((await second.ended()).code, 0);
  },
);

test(
  "deploy/seccomp.json lets bubblewrap work, and without its last rule the start is refused",
  limits,
  async () => {
    const profile = join(root, "deploy/seccomp.json");
    const volume = containers.volume("seccomp");
    const confined = (file: string) => ["--security-opt", `seccomp=${file}`];
    const allowed = await containers.start({ tag, volume, more: confined(profile) });
    await allowed.started();
    assert.equal(await sandboxOf(allowed.address), "bubblewrap-without-proc");
    await containers.podman("stop", "--time", "60", allowed.id);

    // As in Docker's own profile, threads can be made, and namespaces cannot.
    const { syscalls, ...rest }: { syscalls: object[] } = JSON.parse(readFileSync(profile, "utf8"));
    const newNamespaces = 0x7e_02_00_00;
    const args = [{ index: 0, value: newNamespaces, valueTwo: 0, op: "SCMP_CMP_MASKED_EQ" }];
    const threads = { names: ["clone"], action: "SCMP_ACT_ALLOW", args };
    const clone3 = { names: ["clone3"], action: "SCMP_ACT_ERRNO", errnoRet: 38 };
    const narrow = join(containers.folder, "docker.json");
    writeFileSync(
      narrow,
      JSON.stringify({ ...rest, syscalls: [...syscalls.slice(0, 1), threads, clone3] }),
    );
    const refused = await (await containers.start({ tag, volume, more: confined(narrow) })).ended();
    assert.equal(refused.code, 1);
    assert.match(
      refused.said,
      /^hlust: media would be decoded without a sandbox.*seccomp\.json.*apparmor=unconfined.*HLUST_SANDBOX=reduced/m,
    );

    const more = [...confined(narrow), "--env", "HLUST_SANDBOX=reduced"];
    const accepted = await containers.start({ tag, volume, more });
    await accepted.started();
    assert.equal(await sandboxOf(accepted.address), "reduced");
  },
);

test("a container without shared memory starts", limits, async () => {
  const volume = containers.volume("no-shared-memory");
  const container = await containers.start({ tag, volume, more: ["--ipc", "none"] });
  await container.started();
  await recognizeSample(container.address, volume);
});

test(
  "a volume of another user is reported with the command that gives it to the service",
  limits,
  async () => {
    const volume = join(containers.folder, "of-root");
    mkdirSync(volume, { mode: 0o755 });
    const { code, said } = await (await containers.start({ tag, volume })).ended();
    assert.equal(code, 1);
    assert.match(
      said,
      /^hlust: HLUST_DATA=\/var\/lib\/hlust cannot be used: it belongs to user 0, .*chown -R 10001 \/var\/lib\/hlust$/m,
    );
  },
);

testArchitectures(containers, tag, limits);
testChart(containers, tag, limits);
testDecoders(containers, tag, limits);
testSameBytes(containers, tag, limits);
