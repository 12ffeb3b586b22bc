import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import {
  flite,
  fliteWords,
  joined,
  noise,
  silence,
  type TimedSpeech,
} from "../../../test/fixtures/flite.ts";
import { runs } from "../../../test/fixtures/property-runs.ts";
import { assertWordTimes, type TimedWord } from "../../../test/fixtures/word-times.ts";
import type { Engine } from "../protocol/engine.ts";
import { EngineSession } from "../process/engine-session.ts";
import type { SessionOptions } from "../protocol/engine-frames.ts";
import type { Recognition } from "../protocol/recognizer.ts";
import { openPocketsphinx } from "./pocketsphinx-engine.ts";

const options: SessionOptions = {
  languageCode: "en-US",
  mode: "live",
  sampleRateHertz: 16_000,
  alternativesMax: 1,
  interim: false,
  silenceMsMin: 500,
  punctuation: true,
};

describe("live recognition with PocketSphinx", () => {
  let engine: Engine;
  /** Two utterances, and their results from this engine's very first session. */
  let spoken: Int16Array;
  let first: Recognition[];
  const inFull = { interim: true, alternativesMax: 5 } as const;
  before(async () => {
    engine = await openPocketsphinx();
    spoken = joined(
      noise(300, 4),
      flite("Seven men came", { voice: "rms" }),
      noise(800, 4),
      flite("The weather is good", { voice: "rms" }),
    );
    first = await recognize([spoken], inFull);
  });
  after(() => {
    engine.close();
  });

  /** All results of a new session for these chunks. */
  async function recognize(
    chunks: readonly Int16Array[],
    changes: Partial<SessionOptions> = {},
  ): Promise<Recognition[]> {
    const results: Recognition[] = [];
    let isDone = false;
    const session = new EngineSession(
      engine,
      { ...options, ...changes },
      {
        interim: (recognition) => results.push(recognition),
        committed: ({ final }) => results.push(...(final ? [final] : [])),
        progress() {},
        received() {},
        done: () => (isDone = true),
      },
    );
    for (const chunk of chunks) session.push(chunk);
    session.endInput();
    while (session.step() !== false) await turn();
    session.close();
    assert.ok(isDone);
    return results;
  }

  test("every word begins where it was spoken, after pauses of any length", async () => {
    const { samples, words } = talk([
      [1000, "The weather is good today"],
      [250, "Seven men came"],
      [3700, "Thank you very much"],
      [60, "There are seven days"],
    ]);
    for (const [silenceMsMin, count] of [
      [500, 3],
      [5000, 1],
    ] as const) {
      const finals = await recognize([samples], { silenceMsMin, utteranceMsMax: 60_000 });
      assert.equal(finals.length, count);
      const found = finals.flatMap(({ alternatives: [best] }) => best?.words ?? []);
      let lastMs = 0;
      for (const { text, startMs, endMs } of found) {
        assert.ok(startMs >= lastMs && endMs > startMs, `"${text}" from ${startMs} to ${endMs}`);
        lastMs = endMs;
      }
      assertWordTimes(words, found, { recognizedShareMin: 0.8 });
    }
  });

  test("a session in a used process returns exactly the results of a fresh one", async () => {
    // The audio is a loud, different voice, in a session that is closed in the middle of a word.
    const strange = flite("Seven men", { voice: "awb" }).map((sample) => {
      return Math.max(-32_768, Math.min(32_767, sample * 8));
    });
    await recognize([strange, noise(700, 9000)]);
    const left = new EngineSession(engine, options, {
      interim() {},
      committed() {},
      progress() {},
      received() {},
      done() {},
    });
    left.push(strange.subarray(0, 12_000));
    while (left.step() !== false) await turn();
    left.close();
    assert.deepEqual(await recognize([spoken], inFull), first);
    assert.equal(first.filter(({ isFinal }) => isFinal).length, 2);
  });

  test("any split of the samples gives the same final results", async () => {
    const expected = first.filter(({ isFinal }) => isFinal);
    const lengths = fc.array(fc.integer({ min: 1, max: 9000 }), { minLength: 1, maxLength: 9 });
    const splits = [...fc.sample(lengths, runs(9)), [1, 2, 3, 159]];
    for (const split of splits) {
      const chunks: Int16Array[] = [];
      for (let at = 0, turnOf = 0; at < spoken.length; turnOf++) {
        const length = split[turnOf % split.length] ?? 1;
        chunks.push(spoken.subarray(at, at + length));
        at += length;
      }
      const results = await recognize(chunks, inFull);
      const finals = results.filter(({ isFinal }) => isFinal);
      assert.deepEqual(finals, expected, `in chunks of ${split.join(", ")}`);
    }
  });

  test("readings are distinct, and clear words have a higher confidence than unclear ones", async () => {
    const clear = flite("There are seven days in a week", { voice: "rms" });
    const hiss = noise(clear.length / 16 + 1, 200);
    const unclear = clear.map((sample, index) => Math.round(sample / 4 + (hiss[index] ?? 0)));
    const confidences: number[] = [];
    for (const samples of [clear, unclear]) {
      const finals = await recognize([samples], { alternativesMax: 5 });
      const [best] = finals.flatMap(({ alternatives }) => alternatives);
      for (const { alternatives } of finals) {
        const texts = alternatives.map(({ text }) => text);
        assert.ok(texts.length >= 2 && texts.length <= 5);
        assert.equal(new Set(texts).size, texts.length);
      }
      const each = best?.words.map(({ confidence }) => confidence ?? NaN) ?? [];
      assert.ok(each.length > 3 && each.every((value) => value >= 0 && value <= 1));
      assert.ok(new Set(each).size > 2, "not all words are equally clear");
      confidences.push(best?.confidence ?? NaN);
    }
    const [ofClear = NaN, ofUnclear = NaN] = confidences;
    assert.ok(ofClear > ofUnclear + 0.3, `${ofClear} and ${ofUnclear}`);
  });

  test("a voice is recognized at any volume", async () => {
    for (const volume of [1, 0.1, 0.02]) {
      const soft = () => recognize([spoken.map((sample) => Math.round(sample * volume))]);
      const finals = volume === 1 ? first.filter(({ isFinal }) => isFinal) : await soft();
      const text = finals.map(({ alternatives: [best] }) => best?.text).join(" ");
      assert.match(text, /seven men came .*weather is good/, `at ${volume}`);
    }
  });

  test("silence and noise produce no words", async () => {
    for (const amplitude of [30, 3000, 20_000]) {
      assert.deepEqual(await recognize([silence(2000), noise(5000, amplitude)]), []);
    }
  });
});

/** Creates sentences, each after a pause with room noise. */
function talk(parts: readonly (readonly [pauseMs: number, text: string])[]): TimedSpeech {
  let at = 0;
  const words: TimedWord[] = [];
  const sections = parts.flatMap(([pauseMs, text]) => {
    const spoken = fliteWords(text, "rms");
    at += pauseMs;
    words.push(...spoken.words.map((word) => ({ ...word, startMs: at + word.startMs })));
    at += spoken.samples.length / 16;
    return [noise(pauseMs, 4), spoken.samples];
  });
  return { samples: joined(...sections), words };
}
