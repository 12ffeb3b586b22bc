// The tests of the decoders, run inside the image: with its ffmpeg, its bubblewrap and its Node, in
// the container of a service, and so with its rights. The checkout is mounted read-only.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, globSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { sandboxOf } from "./ask-service.ts";
import type { Containers, RunningContainer } from "./containers.ts";

const root = resolve(import.meta.dirname, "../..");
const node = `/opt/hlust/node_modules/node-linux-${process.arch}/bin/node`;

/** The files with tests of decoders, formats and the sandbox, and how many tests pass in each. */
const expected: Readonly<Record<string, number>> = {
  "src/audio/containers.test.ts": 2,
  "src/audio/decode-stream.test.ts": 1,
  "src/audio/decode-wav.test.ts": 5,
  "src/audio/decode.test.ts": 7,
  "src/audio/g711.test.ts": 2,
  "src/audio/media-input.test.ts": 2,
  "src/audio/network-voice-activity.test.ts": 5,
  "src/audio/onnx-runtime.test.ts": 2,
  "src/audio/pcm-stream.test.ts": 5,
  "src/audio/resample.test.ts": 9,
  "src/audio/sandbox.test.ts": 11,
  "src/audio/stream-framers.test.ts": 4,
  "src/audio/timed-samples.test.ts": 4,
  "src/audio/utterance-cutter.test.ts": 9,
  "src/audio/voice-activity.test.ts": 8,
  "src/audio/waveform.test.ts": 4,
  "src/speech/compressed-audio.test.ts": 4,
  "src/speech/decoded-input.test.ts": 1,
  "test/jobs/media-faults.test.ts": 8,
  "test/jobs/media-fuzz.test.ts": 1,
  "test/jobs/media-leftovers.test.ts": 2,
  "test/spec/encodings.test.ts": 10,
  "test/spec/media-facts.test.ts": 7,
};

/**
 * Tests of src/audio/sandbox.test.ts that need what a container does not have: a /proc that can be
 * mounted again, or /proc/sys to write to. All others run.
 */
const needProc = [
  "/: bubblewrap$/",
  "/where .proc cannot be mounted/",
  "/without namespaces, only HLUST_SANDBOX=reduced/",
];

/** Tests the decoders in the image under Podman's own profile, and under the one for Docker. */
export function testDecoders(
  containers: Containers,
  tag: string,
  options: { readonly skip: string | boolean; readonly timeout: number },
): void {
  for (const [name, profile] of [
    ["Podman's profile of system calls", undefined],
    ["deploy/seccomp.json", join(root, "deploy/seccomp.json")],
  ] as const) {
    test(`the tests of the decoders pass in the image, under ${name}`, options, async (t) => {
      assert.deepEqual(
        globSync("src/audio/*.test.ts", { cwd: root }).filter((file) => !(file in expected)),
        [],
      );
      const more = [
        ...mounts(containers, await missingLibraries(containers, tag)),
        ...(profile === undefined ? [] : ["--security-opt", `seccomp=${profile}`]),
      ];
      const volume = containers.volume(`decoders-${profile === undefined ? "own" : "docker"}`);
      const container = await containers.start({ tag, volume, more });
      await container.started();
      assert.equal(await sandboxOf(container.address), "bubblewrap-without-proc");
      await checkRights(containers, container);
      await runFiles(containers, container, t);
      await containers.podman("stop", "--time", "60", container.id);
    });
  }
}

/** The programs that make the speech that the tests decode. The image has none of them. */
const speakers = ["/usr/bin/flite", "/usr/bin/espeak-ng"];

/** Returns the libraries of the speakers that the image does not have. */
async function missingLibraries(containers: Containers, tag: string): Promise<string[]> {
  const lines = speakers.map((program) => execFileSync("ldd", [program], { encoding: "utf8" }));
  const paths = Array.from(lines.join("").matchAll(/ => (\/\S+)/g), ([, path = ""]) => path);
  const look = 'for path; do [ -e "$path" ] || echo "$path"; done';
  const found = await containers.runOnce(tag, ["sh", "-c", look, "sh", ...new Set(paths)]);
  return found.split("\n").filter(Boolean);
}

function mounts(containers: Containers, libraries: readonly string[]): string[] {
  const voices = execFileSync("espeak-ng", ["--version"], { encoding: "utf8" });
  const [, data = ""] = /Data at: (\S+)/.exec(voices) ?? [];
  const readOnly = [
    [root, "/checkout"],
    [data, data],
    ...speakers.map((path) => [path, path]),
    ...libraries.map((path) => [path, path]),
  ];
  // Tests keep a database that is ready to use. The folder must be there to be mounted on.
  const kept = "node_modules/.cache/postgres";
  mkdirSync(join(root, kept), { recursive: true });
  const seeds = join(containers.folder, "seeds");
  if (!existsSync(seeds)) containers.volume("seeds");
  return [
    ...readOnly.flatMap(([from, to]) => ["--volume", `${from}:${to}:ro`]),
    `--volume=${seeds}:/checkout/${kept}`,
  ];
}

/** Fails if what is run in the container has more rights than the image asks for. */
async function checkRights(containers: Containers, { id }: RunningContainer): Promise<void> {
  const status = await containers.podman("exec", id, "cat", "/proc/self/status");
  const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status)?.[1];
  const names = ["Uid", "Gid", "CapPrm", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"];
  const none = "0000000000000000";
  assert.deepEqual(names.map(field), ["10001", "10001", none, none, none, "1", "2"]);
  for (const folder of ["/", "/opt/hlust", "/checkout"]) {
    await assert.rejects(containers.podman("exec", id, "touch", join(folder, "new")), /Read-only/);
  }
}

async function runFiles(
  containers: Containers,
  { id }: RunningContainer,
  t: TestContext,
): Promise<void> {
  const place = ["--workdir", "/checkout", "--env", "NODE_COMPILE_CACHE=/tmp/compiled"];
  const skipped = needProc.map((pattern) => `--test-skip-pattern=${pattern}`);
  const command = [node, "--test", "--test-reporter=tap", "--test-timeout=600000", ...skipped];
  for (const [file, least] of Object.entries(expected)) {
    const output = await containers
      .podman("exec", ...place, id, ...command, file)
      .catch((error: { stdout?: string; stderr?: string }) => `${error.stdout}${error.stderr}`);
    const count = (what: string) =>
      Number(new RegExp(`^# ${what} (\\d+)$`, "m").exec(output)?.[1] ?? Number.NaN);
    t.diagnostic(`${file}: ${count("pass")} passed, ${count("skipped")} skipped`);
    assert.equal(count("fail") + count("cancelled"), 0, `${file}\n${output}`);
    assert.ok(count("pass") >= least, `${file}: ${count("pass")} passed; ${least} are expected`);
  }
}
