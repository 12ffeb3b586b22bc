// Tests the outputs of a model that are kept by recognition and aligned, in engine processes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { espeakTimedWords } from "../../../test/fixtures/espeak-words.ts";
import { enginePids, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { joined, noise } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type KeptOutputs, utterancesOf } from "../protocol/kept-outputs.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";

const languageCode = "is-IS";
const signal = new AbortController().signal;
let others: ReadonlySet<number>;
let pool: EnginePool;
let samples: Int16Array;
let said: { readonly text: string; readonly startMs: number }[];
before(async () => {
  others = new Set(enginePids());
  const log = createLog("silent");
  pool = await openEnginePool({ engine: "auto", only: "is-IS-starter", processes: 1, log });
  const one = await espeakTimedWords("við hittumst á kaffihúsinu eftir vinnu", "is");
  const two = await espeakTimedWords("strákurinn les bókina sína í stofunni", "is+f2");
  const pause = noise(900, 4);
  samples = joined(pause, one.samples, pause, two.samples, pause);
  const secondMs = 1800 + one.samples.length / 16;
  said = [
    ...one.words.map((word) => ({ ...word, startMs: 900 + word.startMs })),
    ...two.words.map((word) => ({ ...word, startMs: secondMs + word.startMs })),
  ];
});
after(() => pool[Symbol.asyncDispose]());

/** Recognizes audio; `onFinal` is called with each final result. */
async function recognize(
  input: Iterable<Int16Array> | AsyncIterable<Int16Array>,
  onFinal = async (): Promise<void> => {},
) {
  const kept: KeptOutputs[] = [];
  const texts: string[] = [];
  const onOutputs = (outputs: KeptOutputs) => kept.push(outputs);
  const options = { languageCode, mode: "job", sampleRateHertz: 16_000, onOutputs } as const;
  for await (const { alternatives } of pool.recognize(input, options)) {
    texts.push(alternatives[0]?.text ?? "");
    await onFinal();
  }
  assert.equal(kept.length, 1);
  return { texts, outputs: kept[0] ?? assert.fail() };
}

test("the outputs of a recognition align the words that were said", async () => {
  const { texts, outputs } = await recognize([samples]);
  assert.equal(texts.length, 2);
  assert.equal(outputs.model, pool.outputsModel(languageCode));
  assert.equal(utterancesOf(outputs.bytes).length, 2);
  const windowMs = Math.floor(samples.length / 16);
  const words = said.map(({ text }) => text);
  const times = await pool.align({ ...outputs, windowMs }, words, { languageCode, signal });
  for (const [index, { text, startMs }] of said.entries()) {
    const offMs = (times[index]?.startMs ?? Infinity) - startMs;
    assert.ok(Math.abs(offMs) <= 100, `${text} ${offMs}`);
  }
  await until(() => pool.state().sessions === 0, "the sessions have ended");
});

test("silence has empty outputs, so that it need not be processed again", async () => {
  const { outputs } = await recognize([noise(2000, 4)]);
  assert.deepEqual(utterancesOf(outputs.bytes), []);
  assert.equal(outputs.model, pool.outputsModel(languageCode));
});

test("a process that is killed within an utterance leaves the outputs as they would be", async () => {
  const { outputs } = await recognize([samples]);
  const killed = Promise.withResolvers<void>();
  const cut = Math.round(16 * ((said[8]?.startMs ?? 0) + 200));
  async function* input(): AsyncGenerator<Int16Array> {
    yield samples.subarray(0, cut);
    await killed.promise;
    yield samples.subarray(cut);
  }
  let finals = 0;
  const disturbed = await recognize(input(), async () => {
    if (finals++ > 0) return;
    for (const pid of enginePids().filter((each) => !others.has(each))) {
      process.kill(pid, "SIGKILL");
    }
    await until(() => pool.state().ready === 0, "the process is gone");
    killed.resolve();
  });
  assert.equal(finals, 2);
  assert.deepEqual(Buffer.from(disturbed.outputs.bytes), Buffer.from(outputs.bytes));
  await until(() => pool.state().ready === 1, "the process is back");
});

test("outputs of another model are refused, as if no engine were ready", async () => {
  const other = { model: "another 1 0123456789abcdef", bytes: new Uint8Array(0), windowMs: 1000 };
  await assert.rejects(pool.align(other, ["orð"], { languageCode, signal }), (error) => {
    assert.ok(error instanceof ServiceError);
    assert.equal(error.code, "unavailable");
    return true;
  });
  assert.equal(pool.outputsModel("fo-FO"), undefined);
});

test("damaged outputs fail, and the engine serves others", async () => {
  const { outputs } = await recognize([samples]);
  const bytes = Uint8Array.from(outputs.bytes).subarray(0, -3);
  const window = { ...outputs, bytes, windowMs: 5000 };
  await assert.rejects(pool.align(window, ["orð"], { languageCode, signal }), /incomplete/);
  assert.equal((await pool.align(samples, ["við"], { languageCode, signal })).length, 1);
});
