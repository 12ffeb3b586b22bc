import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import { joined, noise, silence } from "../../../test/fixtures/flite.ts";
import type { Engine } from "../protocol/engine.ts";
import { EngineSession } from "./engine-session.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import type { Recognition } from "../protocol/recognizer.ts";
import { createScriptedEngine } from "../scripted/scripted-engine.ts";

const scripted = createScriptedEngine();
/** The scripted engine with the voice activity of the real engines. */
const byEnergy: Engine = { ...scripted, createVoiceActivity: () => new EnergyVoiceActivity() };

const options: SessionOptions = {
  languageCode: "en-US",
  mode: "live",
  sampleRateHertz: 16_000,
  alternativesMax: 2,
  interim: false,
  silenceMsMin: 500,
  punctuation: true,
};

function finalsOf(
  engine: Engine,
  changes: Partial<SessionOptions>,
  chunks: readonly Int16Array[],
): Recognition[] {
  const finals: Recognition[] = [];
  const session = new EngineSession(
    engine,
    { ...options, ...changes },
    {
      interim() {},
      committed: ({ final }) => finals.push(...(final ? [final] : [])),
      progress() {},
      received() {},
      done() {},
    },
  );
  for (const chunk of chunks) {
    session.push(chunk);
    while (session.step() === true);
  }
  session.endInput();
  while (session.step() === true);
  session.close();
  return finals;
}

/** The longest voice of each rate so far; a shorter one is its beginning. */
const voices = new Map<number, Int16Array>();

/** Generates sound that alternates between loud and soft, like a voice. */
function voice(ms: number, sampleRateHertz: number): Int16Array {
  const length = silence(ms, sampleRateHertz).length;
  const known = voices.get(sampleRateHertz);
  if (known && known.length >= length) return known.subarray(0, length);
  const made = noise(ms, 60, sampleRateHertz).map((sample, index) => {
    const seconds = index / sampleRateHertz;
    const loud = 4000 * Math.abs(Math.sin(2 * Math.PI * 2 * seconds));
    return Math.round(sample + loud * Math.sin(2 * Math.PI * 400 * seconds));
  });
  voices.set(sampleRateHertz, made);
  return made;
}

test("any split of the same samples gives the same final results", () => {
  const stretch = fc.record({ ms: fc.integer({ min: 5, max: 900 }), isLoud: fc.boolean() });
  let finalsSeen = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(scripted, byEnergy),
      fc.array(stretch, { minLength: 1, maxLength: 6 }),
      fc.record({
        // Most cases need no resampling, which takes longest and has its own test for splits.
        sampleRateHertz: fc.oneof(
          { weight: 9, arbitrary: fc.constant(16_000) },
          { weight: 3, arbitrary: fc.constantFrom(8000, 22_051, 48_000) },
        ),
        silenceMsMin: fc.constantFrom(200, 500, 900),
        utteranceMsMax: fc.constantFrom(1000, 20_000),
      }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
      (engine, stretches, changes, shares) => {
        const rate = changes.sampleRateHertz;
        const samples = joined(
          ...stretches.map(({ ms, isLoud }) => (isLoud ? voice(ms, rate) : silence(ms, rate))),
        );
        const edges = shares.map((share) => Math.floor(share * samples.length));
        const sorted = [0, ...edges.toSorted((a, b) => a - b), samples.length];
        const chunks = sorted.slice(1).map((edge, index) => samples.subarray(sorted[index], edge));
        const whole = finalsOf(engine, changes, [samples]);
        finalsSeen += whole.length;
        assert.deepEqual(finalsOf(engine, changes, chunks), whole);
      },
    ),
    // About 1,080 final results for 1,000 cases, with a deviation of 35: enough for this check.
    { numRuns: 1200 },
  );
  assert.ok(finalsSeen > 1000, `${finalsSeen} finals`);
});

test("a silence of silenceMsMin, from 200 ms to 5 s, ends an utterance", () => {
  for (const [pauseMs, silenceMsMin, count] of [
    [150, 200, 1],
    [400, 200, 2],
    [400, 500, 1],
    [700, 500, 2],
    [1800, 2000, 1],
    [2300, 2000, 2],
    [4500, 5000, 1],
    [5500, 5000, 2],
  ] as const) {
    const said = [voice(1000, 16_000), noise(pauseMs, 60), voice(1000, 16_000)];
    const finals = finalsOf(byEnergy, { silenceMsMin, utteranceMsMax: 60_000 }, said);
    assert.equal(finals.length, count, `${pauseMs} ms of silence, ${silenceMsMin} divide`);
    // The final result arrives as soon as the silence is long enough.
    const after = [joined(...said, noise(6000, 60))];
    const [last] = finalsOf(byEnergy, { silenceMsMin, utteranceMsMax: 60_000 }, after).slice(-1);
    const speechEndMs = 2000 + pauseMs;
    const late = (last?.audioEndMs ?? NaN) - speechEndMs - silenceMsMin;
    assert.ok(late > -200 && late < 150, `ends ${late} ms after ${silenceMsMin} ms of silence`);
  }
});
