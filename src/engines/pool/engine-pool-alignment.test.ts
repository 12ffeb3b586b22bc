// Tests the alignment of words in engine processes, including processes that die.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { enginePids, speech, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { joined, silence } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { alignedMsMax, alignedWordsMax } from "../protocol/alignment.ts";
import { scriptedOrders } from "../scripted/scripted-engine.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";

const stuckMsMax = 500;
let others: ReadonlySet<number>;
let pool: EnginePool;
before(async () => {
  others = new Set(enginePids());
  const log = createLog("silent");
  pool = await openEnginePool({ engine: "scripted", processes: 2, log, stuckMsMax });
});
after(() => pool[Symbol.asyncDispose]());

const pids = () => enginePids().filter((pid) => !others.has(pid));
const allReady = () => until(() => pool.state().ready === 2, "the processes are back");
const signal = new AbortController().signal;
const options = { languageCode: "is-IS", signal };
const window = joined(silence(1000), speech(1000), silence(500));
const twoWords = [
  { startMs: 1000, endMs: 1500, score: 1 },
  { startMs: 1500, endMs: 2000, score: 1 },
];

test("the words of a window get times in order", async () => {
  assert.deepEqual(pool.alignedLanguageCodes(), ["en-US", "is-IS"]);
  assert.deepEqual(await pool.align(window, ["one", "two"], options), twoWords);
  assert.deepEqual(await pool.align(window, [], options), []);
  assert.equal((await pool.align(silence(0), ["one"], options)).length, 1);
  await until(() => pool.state().sessions === 0, "the sessions have ended");
});

test("a window that is longer than the pipe holds is aligned", async () => {
  const long = speech(alignedMsMax);
  const words = Array.from({ length: alignedWordsMax }, (_, index) => `word${index}`);
  const times = await pool.align(long, words, options);
  assert.equal(times.length, alignedWordsMax);
  assert.equal(times.at(-1)?.endMs, alignedMsMax);
});

test("a window or words beyond the limit, and unknown languages, are refused", async () => {
  const tooLong = silence(alignedMsMax + 1);
  const tooMany = Array.from({ length: alignedWordsMax + 1 }, () => "word");
  const cases = [
    [tooLong, ["one"], "is-IS", "invalid_argument", /window must have at most 300000 ms: 300001/],
    [window, tooMany, "is-IS", "invalid_argument", /words must have at most 4000 words: 4001/],
    [window, ["one"], "fo-FO", "failed_precondition", /"fo-FO" has no installed model that aligns/],
  ] as const;
  for (const [samples, words, languageCode, code, message] of cases) {
    await assert.rejects(pool.align(samples, words, { languageCode, signal }), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      if (code === "failed_precondition") assert.equal(error.reason, "ALIGNMENT_NOT_SUPPORTED");
      return true;
    });
  }
});

test("a killed process causes only a delay", async () => {
  await allReady();
  const aligned = Promise.all(
    Array.from({ length: 8 }, () => pool.align(speech(60_000), ["one", "two"], options)),
  );
  for (const pid of pids()) process.kill(pid, "SIGKILL");
  for (const [, second] of await aligned) {
    assert.deepEqual(second, { startMs: 30_000, endMs: 60_000, score: 1 });
  }
  assert.equal(pool.state().sessions, 0);
});

test("a window that crashes or stops engines fails after two processes", async () => {
  for (const order of [scriptedOrders.die, scriptedOrders.hang, scriptedOrders.garble]) {
    await allReady();
    const poison = joined(speech(400), silence(80).fill(order));
    await assert.rejects(pool.align(poison, ["one"], options), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.equal(error.code, "internal");
      assert.equal(error.reason, "ENGINE_FAILED");
      return true;
    });
  }
  await allReady();
  assert.deepEqual(await pool.align(window, ["one", "two"], options), twoWords);
});

test("an aborted alignment frees its session", async () => {
  await allReady();
  const ending = new AbortController();
  const aligned = pool.align(speech(200_000), ["one"], { ...options, signal: ending.signal });
  await until(() => pool.state().sessions === 1, "the session is open");
  ending.abort(new Error("cancelled"));
  await assert.rejects(aligned, /cancelled/);
  assert.equal(pool.state().sessions, 0);
  await assert.rejects(pool.align(window, ["one"], { ...options, signal: ending.signal }), {
    message: "cancelled",
  });
});
