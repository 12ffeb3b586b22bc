// Tests the effort of live streams with real processes of PocketSphinx.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { enginePids, openInput, until } from "../../../test/fixtures/engine-pool-fixture.ts";
import { flite, joined, noise } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import type { Recognition, RecognitionInput, RecognitionOptions } from "../protocol/recognizer.ts";

const log = createLog("silent");
const options = { languageCode: "en-US", mode: "live", sampleRateHertz: 16_000 } as const;
const chunkSamples = 1600;
/** The time within which full effort must be granted to some stream. */
const fullMsMax = 120_000;
/** The number of streams below which a process is too slow for full effort. */
const streamsMin = 4;
let others: ReadonlySet<number>;
let pool: EnginePool;
let spoken: Int16Array;
before(async () => {
  others = new Set(enginePids());
  pool = await openEnginePool({ engine: "pocketsphinx", processes: 1, log });
  spoken = joined(
    noise(300, 4),
    flite("Seven men came", { voice: "rms" }),
    noise(900, 4),
    flite("The weather is good today", { voice: "slt" }),
    noise(900, 4),
  );
});
after(() => pool[Symbol.asyncDispose]());

const pids = () => enginePids().filter((pid) => !others.has(pid));

function chunksOf(samples: Int16Array): Int16Array[] {
  return Array.from({ length: Math.ceil(samples.length / chunkSamples) }, (_, index) =>
    samples.subarray(index * chunkSamples, (index + 1) * chunkSamples),
  );
}

/** The finals without confidences, which differ by 0.00001 from run to run. */
function finalsOf(results: readonly Recognition[]) {
  return results
    .filter(({ isFinal }) => isFinal)
    .map(({ alternatives, ...rest }) => ({
      ...rest,
      words: alternatives[0]?.words.map(({ text, startMs, endMs }) => [text, startMs, endMs]),
    }));
}

async function recognize(
  input: AsyncIterable<RecognitionInput> | Iterable<RecognitionInput>,
  changes: Partial<RecognitionOptions> = {},
): Promise<Recognition[]> {
  return await Array.fromAsync(pool.recognize(input, { ...options, ...changes }));
}

test("a process that is killed within an utterance changes neither its effort nor its words", async () => {
  const chunks = chunksOf(spoken);
  const expected = finalsOf(await recognize(chunks, { effort: "full" }));
  assert.deepEqual(
    expected.map(({ effort }) => effort),
    ["full", "full"],
  );
  const quick = finalsOf(await recognize(chunks, { effort: "quick" }));
  assert.deepEqual(
    quick.map(({ effort }) => effort),
    ["quick", "quick"],
  );
  // Within the first utterance, and in the silence after it, when the second search is under way.
  for (const sentFirst of [12, 18, 30]) {
    await until(() => pool.state().ready === 1, "the process is back");
    const { input, given, end } = openInput(...chunks.slice(0, sentFirst));
    const all = (async function* () {
      yield* input;
      yield* chunks.slice(sentFirst);
    })();
    const running = recognize(all, { effort: "full", interim: true });
    await until(() => given() === sentFirst, "the first part is sent");
    for (const pid of pids()) process.kill(pid, "SIGKILL");
    await until(() => pool.state().ready === 0, "it has ended");
    end();
    assert.deepEqual(finalsOf(await running), expected, `killed after ${sentFirst} chunks`);
  }
});

test("streams get full effort while there is room, and quick effort while a recording waits", async (context) => {
  await until(() => pool.state().ready === 1, "the process is ready");
  const chunks = chunksOf(spoken);
  // The audio of this recording waits until the input ends.
  const { input, given, end } = openInput(...chunks.slice(0, 10));
  const short = recognize(input, { mode: "short" });
  await until(() => given() === 10, "the recording waits");
  for (let round = 0; round < 2; round++) {
    const finals = finalsOf(await recognize(chunks));
    assert.deepEqual(
      finals.map(({ effort }) => effort),
      ["quick", "quick"],
    );
  }
  end();
  for (const { effort } of await short) assert.equal(effort, undefined);
  if ((pool.state().models[0]?.streamsMax ?? 0) < streamsMin) {
    context.diagnostic("the machine is too slow or too busy for full effort");
    return;
  }
  const giveUpAt = performance.now() + fullMsMax;
  const isFull = async () => (await recognize(chunks)).some(({ effort }) => effort === "full");
  while (!(await isFull())) {
    assert.ok(performance.now() < giveUpAt, "a stream alone gets full effort");
  }
});
