import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { pino } from "pino";
import {
  finalsWithoutPool,
  openInput,
  recognize,
  scriptedOptions,
  speech,
  until,
} from "../../../test/fixtures/engine-pool-fixture.ts";
import { flite, joined, noise, silence } from "../../../test/fixtures/flite.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { type EnginePool, openEnginePool } from "./engine-pool.ts";
import {
  endUtterance,
  type Recognition,
  type RecognitionInput,
  type RecognitionOptions,
} from "../protocol/recognizer.ts";

const log = createLog("silent");
let pool: EnginePool;
before(async () => {
  pool = await openEnginePool({ engine: "scripted", processes: 2, log });
});
after(() => pool[Symbol.asyncDispose]());

/** Formats each recognition as text with the times of its first and last word. */
function shown(recognitions: readonly Recognition[]): string[] {
  return recognitions.map(({ isFinal, alternatives: [best], audioEndMs }) => {
    const times = `${best?.words[0]?.startMs}-${best?.words.at(-1)?.endMs}`;
    return `${isFinal ? "final" : "interim"} ${best?.text} ${times} of ${audioEndMs}`;
  });
}

test("openEnginePool() warns once that the scripted engine returns made-up words", async () => {
  const logged: Record<string, unknown>[] = [];
  const noting = pino(
    { base: null, messageKey: "event" },
    { write: (line: string) => void logged.push(JSON.parse(line)) },
  );
  await using _own = await openEnginePool({ engine: "scripted", processes: 1, log: noting });
  const warnings = logged.filter(({ event }) => event === "engine.scripted");
  assert.deepEqual(
    warnings.map(({ problem }) => problem),
    ["HLUST_ENGINE=scripted returns made-up words"],
  );
});

test("openEnginePool() describes its languages, processes and models", () => {
  assert.deepEqual(pool.languageCodes("live"), ["en-US", "is-IS"]);
  assert.equal(pool.takesHints("is-IS", "live"), false);
  const { models, ...state } = pool.state();
  const counts = { processes: 2, ready: 2, sessions: 0 };
  assert.deepEqual(state, { ...counts, load: 0, refused: [] });
  const languageCodes = ["en-US", "is-IS"];
  const streamsMax = models[0]?.streamsMax ?? 0;
  const facts = { name: "scripted", version: "1", languageCodes, loading: false };
  const expected = { ...facts, ...counts, streamsMax };
  assert.deepEqual(models, [expected]);
  assert.ok(streamsMax >= 1000, `${streamsMax} streams`);
});

test("recognize() returns utterances with times from the first sample, at every rate", async () => {
  for (const sampleRateHertz of [8000, 16_000, 44_100, 48_000]) {
    const input = joined(
      silence(2000, sampleRateHertz),
      speech(1000, sampleRateHertz),
      silence(1000, sampleRateHertz),
      speech(700, sampleRateHertz),
    );
    const found = await recognize(pool, [input], { sampleRateHertz });
    assert.equal(found.length, 2, String(sampleRateHertz));
    for (const [index, [startMs, endMs]] of [
      [2000, 3000],
      [4000, 4700],
    ].entries()) {
      const words = found[index]?.alternatives[0]?.words ?? [];
      const [start = 0, end = 0] = [words[0]?.startMs, words.at(-1)?.endMs];
      // A resampled edge rings for one or two milliseconds.
      assert.ok(Math.abs(start - (startMs ?? 0)) <= 4, `${sampleRateHertz}: begins ${start}`);
      assert.ok(Math.abs(end - (endMs ?? 0)) <= 4, `${sampleRateHertz}: ends ${end}`);
    }
  }
});

test("recognize() returns interim results when they change, and final results at silence", async () => {
  const input = [joined(speech(1200), silence(600)), silence(600), speech(300)];
  assert.deepEqual(shown(await recognize(pool, input, { interim: true })), [
    "interim word1 0-100 of 100",
    "interim word1 word2 0-600 of 600",
    "interim word1 word2 word3 0-1100 of 1100",
    "final word1 word2 word3 0-1200 of 1700",
    "interim word1 2400-2500 of 2500",
    "final word1 2400-2700 of 2700",
  ]);
  const finals = await recognize(pool, input, { interim: false });
  assert.ok(finals.every(({ isFinal }) => isFinal));
  assert.equal(finals.length, 2);
});

test("recognize() obeys its options", async () => {
  const rows: [input: RecognitionInput[], Partial<RecognitionOptions>, finals: string[]][] = [
    [[speech(2000)], { utteranceMsMax: 1000 }, ["0-1000", "1000-2000"]],
    [[speech(12_000)], {}, ["0-10000", "10000-12000"]],
    [[speech(400), silence(700), speech(400)], { silenceMsMin: 1000 }, ["0-1500"]],
    [[speech(400), silence(300), speech(400)], { silenceMsMin: 200 }, ["0-400", "700-1100"]],
    [[speech(400), endUtterance, speech(400)], {}, ["0-400", "400-800"]],
    [[endUtterance, silence(400), endUtterance], {}, []],
    [[], {}, []],
  ];
  for (const [input, changes, expected] of rows) {
    const found = await recognize(pool, input, changes);
    const times = found.map(({ alternatives: [best] }) => {
      return `${best?.words[0]?.startMs}-${best?.words.at(-1)?.endMs}`;
    });
    assert.deepEqual(times, expected);
  }
  const [found] = await recognize(pool, [speech(400)], { alternativesMax: 3 });
  assert.deepEqual(
    found?.alternatives.map(({ text }) => text),
    ["word1", "word1-1", "word1-2"],
  );
});

test("recognize() returns the same final results for any split of the samples", async () => {
  const stretch = fc.record({ ms: fc.integer({ min: 10, max: 900 }), loud: fc.boolean() });
  const rates = fc.constantFrom(8000, 16_000, 44_100);
  const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 9 });
  const stretches = fc.array(stretch, { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(rates, stretches, shares, async (sampleRateHertz, parts, cuts) => {
      const samples = joined(
        ...parts.map(({ ms, loud }) => (loud ? speech : silence)(ms, sampleRateHertz)),
      );
      const inner = cuts.map((cut) => Math.floor(cut * samples.length));
      const edges = [0, ...inner.toSorted((a, b) => a - b), samples.length];
      const chunks = edges.slice(1).map((edge, index) => samples.subarray(edges[index], edge));
      const [whole, split] = await Promise.all([
        recognize(pool, [samples], { sampleRateHertz }),
        recognize(pool, chunks, { sampleRateHertz }),
      ]);
      assert.deepEqual(split, whole);
    }),
    { numRuns: 40 },
  );
});

test("recognize() rejects a language without a model", async () => {
  await assert.rejects(
    recognize(pool, [speech(100)], { languageCode: "fr-FR" }),
    (error) =>
      error instanceof ServiceError &&
      error.code === "invalid_argument" &&
      error.message.includes("en-US, is-IS"),
  );
});

test("recognize() throws the error that its input throws, and frees the session", async () => {
  function* broken(): Generator<RecognitionInput> {
    yield speech(100);
    throw new Error("the client disconnected");
  }
  await assert.rejects(recognize(pool, broken()), /the client disconnected/);
  assert.equal(pool.state().sessions, 0);
});

test("leaving the loop or aborting frees the session immediately and ends the input", async () => {
  const left = openInput(speech(1000), silence(1000));
  for await (const recognition of pool.recognize(left.input, scriptedOptions)) {
    assert.ok(recognition.isFinal);
    assert.equal(pool.state().sessions, 1);
    break;
  }
  assert.equal(pool.state().sessions, 0);
  left.end();
  await until(left.isLeft, "the input is ended");

  const aborting = new AbortController();
  const aborted = openInput(speech(1000), silence(1000));
  const running = pool.recognize(aborted.input, { ...scriptedOptions, signal: aborting.signal });
  assert.equal((await running.next()).done, false);
  const next = running.next();
  aborting.abort(new Error("never mind"));
  await assert.rejects(next, /never mind/);
  assert.equal(pool.state().sessions, 0);
  await assert.rejects(recognize(pool, [speech(100)], { signal: aborting.signal }), /never mind/);
});

test("a slow reader holds back the input, and still gets every result", async () => {
  const spoken = [speech(300), silence(600)];
  const utterances = 600;
  let given = 0;
  function* input(): Generator<RecognitionInput> {
    for (; given < utterances; given++) yield* spoken;
  }
  const running = pool.recognize(input(), scriptedOptions);
  const first = await running.next();
  for (let before = -1; before !== given; await delay(300)) before = given;
  // 64 results are waiting to be read, and others are in transit.
  assert.ok(given >= 64 && given < 200, `${given} utterances were pulled`);
  const rest = await Array.fromAsync(running);
  const whole = Array.from({ length: utterances }, () => spoken).flat();
  assert.deepEqual([first.value, ...rest], finalsWithoutPool(whole));
});

test("recognize() recognizes English with PocketSphinx, and returns no words for silence or noise", async () => {
  await using own = await openEnginePool({ engine: "pocketsphinx", processes: 1, log });
  assert.deepEqual(own.languageCodes("short"), ["en-US"]);
  const english = { languageCode: "en-US", mode: "short" } as const;
  const [one, two] = [flite("The weather is good today", { voice: "rms" }), flite("Thank you")];
  const gap = silence(1000);
  const samples = joined(gap, one, gap, two, gap);
  const found = await recognize(own, [samples], { ...english, alternativesMax: 3 });
  assert.match(found[0]?.alternatives[0]?.text ?? "", /weather is good today/);
  assert.equal(found.length, 2);
  const oneEndMs = 1000 + one.length / 16;
  const starts = found.map(({ alternatives: [best] }) => best?.words[0]?.startMs ?? 0);
  // flite's own output begins with up to a quarter of a second of silence.
  assert.ok((starts[0] ?? 0) >= 1000 && (starts[0] ?? 0) <= 1400, `first begins ${starts[0]}`);
  const second = oneEndMs + 1000;
  assert.ok((starts[1] ?? 0) >= second && (starts[1] ?? 0) <= second + 400, `${starts[1]}`);

  assert.deepEqual(await recognize(own, [silence(3000)], english), []);
  for (const amplitude of [3, 300, 30_000]) {
    const hiss = [silence(1500), noise(3000, amplitude)];
    assert.deepEqual(await recognize(own, hiss, english), [], `noise of ${amplitude}`);
  }
  const interim = await recognize(own, [joined(gap, one, gap)], {
    ...english,
    mode: "live",
    interim: true,
  });
  assert.ok(interim.length >= 4, `${interim.length} results`);
  assert.deepEqual(
    interim.map(({ isFinal }) => isFinal),
    interim.map((_, index) => index === interim.length - 1),
  );
  assert.ok(
    interim.every((result, index) => result.audioEndMs >= (interim[index - 1]?.audioEndMs ?? 0)),
  );
});
