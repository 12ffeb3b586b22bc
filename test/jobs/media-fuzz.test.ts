// Randomly damaged media, decoded in the real sandbox. FUZZ_RUNS is the number of runs, and
// FUZZ_SEED is the first seed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { decodeAudio } from "../../src/audio/decode.ts";
import { chooseSandbox, type Sandbox } from "../../src/audio/sandbox.ts";
import { createLog } from "../../src/std/log.ts";
import { ServiceError } from "../../src/std/service-error.ts";
import { runningDecoders } from "./decoder-watch.ts";

const runs = Number(process.env["FUZZ_RUNS"] ?? 30);
const firstSeed = Number(process.env["FUZZ_SEED"] ?? 1);
const names = ["a.mp3", "a.m4a", "a.opus", "a.flac", "a.mka", "v.mp4", "v.ts", "v.avi", "v.webm"];

let folder = "";
let sandbox: Sandbox;
/** The statuses of programs that were ended by a signal, because of a crash or a limit. */
const killed: number[] = [];

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-fuzz-test-"));
  const real = await chooseSandbox("auto", createLog("silent"));
  sandbox = {
    kind: real.kind,
    async start(options) {
      const started = await real.start(options);
      void started.ended.then(({ status }) => status >= 128 && killed.push(status));
      return started;
    },
  };
  const inputs = "-f lavfi -i sine=d=1 -f lavfi -i testsrc=d=1:s=64x64:r=5";
  const outputs = names.map((name) => `-map 0 ${name.startsWith("v") ? "-map 1 " : ""}${name}`);
  const command = `-nostdin -v error ${inputs} ${outputs.join(" ")}`;
  await promisify(execFile)("ffmpeg", command.split(" "), { cwd: folder });
});
after(() => rm(folder, { recursive: true, force: true }));

/**
 * Returns a generator of pseudorandom numbers from 0 up to, but not including, `most`. The same
 * seed produces the same numbers.
 */
function chances(seed: number): (most: number) => number {
  let state = (seed * 2_654_435_761) >>> 0;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

/**
 * Returns bytes with random damage: bytes and bits are changed, and sections are removed, repeated
 * or filled. Most of the damage is near the start, where headers are.
 */
function broken(bytes: Buffer, chance: (most: number) => number): Buffer {
  let result = Buffer.from(bytes);
  for (let edits = 1 + chance(12); edits > 0; edits--) {
    const at = chance(chance(2) === 0 ? Math.min(result.length, 600) : result.length);
    const length = Math.min(1 + chance(40), result.length - at);
    const [before, part, rest] = [
      result.subarray(0, at),
      result.subarray(at, at + length),
      result.subarray(at + length),
    ];
    const changed = [
      Buffer.of((part[0] ?? 0) ^ (1 << chance(8))),
      Buffer.of(chance(256)),
      Buffer.alloc(length, [0, 0xff, 0x7f][chance(3)]),
      Buffer.concat([part, part]),
      Buffer.alloc(0),
    ][chance(5)];
    const kept = changed?.length === 1 ? result.subarray(at + 1) : rest;
    result = Buffer.concat([before, changed ?? part, kept]);
  }
  return chance(10) === 0 ? result.subarray(0, chance(result.length)) : result;
}

test("damaged media is transcribed or fails with a reason, and no decoder crashes or hangs", async () => {
  const left = Array.from({ length: runs }, (_, run) => firstSeed + run).values();
  let accepted = 0;
  const next = async (): Promise<void> => {
    for (const seed of left) {
      const name = names[seed % names.length] ?? "";
      const file = join(folder, `${seed}-${name}`);
      const bytes = broken(await readFile(join(folder, name)), chances(seed));
      await writeFile(file, bytes, { mode: 0o644 });
      try {
        for await (const samples of decodeAudio({ file, sandbox, durationMsMax: 600_000 })) {
          assert.ok(samples.length > 0);
        }
        accepted++;
      } catch (error) {
        assert.ok(error instanceof ServiceError, `seed ${seed}: ${String(error)}`);
        assert.match(error.reason, /^MEDIA_/, `seed ${seed}`);
        assert.match(
          error.message,
          /^the (media|recording) (is|has) [\w ,.:()-]+$/,
          `seed ${seed}`,
        );
      }
      assert.deepEqual(killed, [], `seed ${seed}`);
      await rm(file);
    }
  };
  await Promise.all([next(), next()]);
  assert.ok(accepted > 0 && accepted < runs, `${accepted} of ${runs} were accepted`);
  assert.deepEqual(runningDecoders(), []);
});
