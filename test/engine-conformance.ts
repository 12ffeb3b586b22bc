import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Decoder, Engine, Hypothesis, RecognitionMode } from "../src/engines/engine.ts";
import { flite, joined, noise, silence } from "./flite.ts";

/** What an engine is tested with, where it is not English, or cannot do what most can. */
export interface ConformanceOptions {
  /** What `heard` matches, and something else. Default: "The weather is good today" and "Seven men", by flite. */
  readonly said?: () => { readonly spoken: Int16Array; readonly other: Int16Array };
  /** It has one reading of what it hears. */
  readonly hasOneReading?: boolean;
}

/** All that a session says of an utterance: what it had heard after each 100 ms, and its readings. */
interface Heard {
  readonly partials: readonly (Hypothesis | undefined)[];
  readonly readings: readonly Hypothesis[];
}

/** The most that a caller may ask for. */
const readingsMax = 10;

/** What every engine must do. `heard` matches the text of what is said. */
export function testEngine(
  name: string,
  open: () => Engine | Promise<Engine>,
  heard: RegExp,
  { said = sayEnglish, hasOneReading = false }: ConformanceOptions = {},
): void {
  const modes: readonly RecognitionMode[] = ["live", "short", "job"];
  /** For tests that hear much: job hears as short does. */
  const twoModes: readonly RecognitionMode[] = ["live", "short"];

  describe(`${name}, as every engine,`, () => {
    let engine: Engine;
    let spoken: Int16Array;
    let other: Int16Array;
    /** What sessions with nothing before them say of `spoken`: heard once in each mode, as hearing costs most of these tests. */
    const fresh = new Map<RecognitionMode, Heard>();
    before(async () => {
      engine = await open();
      const [lead, trail] = [silence(300), silence(300)];
      const bare = said();
      spoken = joined(lead, bare.spoken, trail);
      other = joined(lead, bare.other, trail);
      for (const mode of modes) {
        fresh.set(mode, await withDecoder(mode, readingsMax, (each) => hearLive(each, spoken)));
      }
    });
    after(() => {
      engine.close();
    });

    /** A decoder for the length of one test step. */
    async function withDecoder<T>(
      mode: RecognitionMode,
      alternativesMax: number,
      use: (decoder: Decoder) => T | Promise<T>,
    ): Promise<T> {
      const decoder = engine.createDecoder({ mode, alternativesMax });
      try {
        return await use(decoder);
      } finally {
        decoder.close();
      }
    }

    const freshOf = (mode: RecognitionMode): Heard => fresh.get(mode) ?? assert.fail(mode);

    test("it names itself and its languages", () => {
      assert.match(engine.name, /^[a-z][a-z0-9-]*$/);
      assert.ok(engine.languageCodes.length > 0);
      assert.ok(engine.utteranceMsMax >= 1000);
      for (const code of engine.languageCodes) assert.match(code, /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/);
    });

    test("it hears what is said, in every mode", () => {
      for (const mode of modes) assert.match(freshOf(mode).readings[0]?.text ?? "", heard, mode);
    });

    test("its readings are distinct, best first, and at most as many as asked for", async () => {
      const told: [alternativesMax: number, readings: readonly Hypothesis[]][] = modes.map(
        (mode) => [readingsMax, freshOf(mode).readings],
      );
      for (const [mode, alternativesMax] of [
        ["live", 1],
        ["short", 2],
      ] as const) {
        const readings = await withDecoder(mode, alternativesMax, (decoder) =>
          hear(decoder, [spoken]),
        );
        told.push([alternativesMax, readings]);
      }
      for (const [alternativesMax, readings] of told) {
        const texts = readings.map(({ text }) => text);
        assert.ok(texts.length >= 1 && texts.length <= alternativesMax);
        assert.equal(new Set(texts).size, texts.length);
        assert.match(texts[0] ?? "", heard);
        if (alternativesMax > 1 && !hasOneReading)
          assert.ok(texts.length > 1, "there is more than one reading");
      }
    });

    test("its words make up the text, in order, within the utterance", () => {
      for (const mode of modes) {
        const { readings } = freshOf(mode);
        for (const reading of readings) checkReading(reading, spoken.length / 16);
        assert.ok(readings[0] && readings[0].words.length > 0);
      }
    });

    test("any split of the samples gives the same", async () => {
      for (const mode of twoModes) {
        const split = await withDecoder(mode, readingsMax, (decoder) =>
          hear(decoder, [
            ...inChunks(spoken.subarray(0, 2800), 7),
            ...inChunks(spoken.subarray(2800, 6800), 160),
            ...inChunks(spoken.subarray(6800), 16_001),
          ]),
        );
        assert.deepEqual(split, freshOf(mode).readings, mode);
      }
    });

    test("live, it tells what it has heard so far", async () => {
      await withDecoder("live", 1, async (decoder) => {
        assert.equal(decoder.partial(), undefined);
        decoder.begin();
        assert.equal(decoder.partial(), undefined);
        const texts = new Set<string>();
        for (const chunk of inChunks(spoken, 1600)) {
          await accept(decoder, chunk);
          const partial = decoder.partial();
          if (!partial) continue;
          checkReading(partial, spoken.length / 16);
          texts.add(partial.text);
        }
        assert.ok(texts.size >= 3, `${texts.size} partial readings`);
        await drain(decoder);
        decoder.begin();
        assert.equal(decoder.partial(), undefined, "the next utterance begins anew");
        await drain(decoder);
      });
    });

    test("nothing said is nothing heard", async () => {
      for (const mode of modes) {
        await withDecoder(mode, readingsMax, async (decoder) => {
          assert.deepEqual(await hear(decoder, []), []);
          assert.deepEqual(await hear(decoder, [silence(5)]), []);
          const { readings } = freshOf(mode);
          assert.deepEqual(await hear(decoder, [spoken]), readings, "it hears on");
        });
      }
    });

    test("it ends an utterance in slices", async () => {
      if (engine.name === "scripted" || engine.usesThreads) return;
      await withDecoder("job", 1, async (decoder) => {
        decoder.begin();
        decoder.accept(other);
        let slices = 0;
        const ending = decoder.end();
        for (let slice = ending.next(); !slice.done; slice = ending.next()) {
          slices += 1;
          await slice.value;
        }
        assert.ok(slices >= other.length / 1600 - 1, `${slices} slices`);
      });
    });

    test("what one session said is never felt by the next, wherever it was closed", async () => {
      // Loud, far from the mean of speech: what would move any average that is kept.
      const strange = other.map((sample) => Math.max(-32_768, Math.min(32_767, sample * 8)));
      for (const mode of twoModes) {
        await withDecoder(mode, 1, (decoder) => hear(decoder, [strange]));
        await withDecoder(mode, 1, async (decoder) => {
          decoder.begin();
          await accept(decoder, strange.subarray(0, 16_000));
        });
        await withDecoder(mode, 1, async (decoder) => {
          decoder.begin();
          await accept(decoder, other);
          const ending = decoder.end();
          ending.next();
          ending.return([]);
        });
        const next = await withDecoder(mode, readingsMax, (decoder) => hearLive(decoder, spoken));
        assert.deepEqual(next, freshOf(mode), mode);
      }
    });

    test("what it learnt of a session goes on in another process", async () => {
      for (const mode of twoModes) {
        await withDecoder(mode, 3, async (decoder) => {
          for (const volume of [1, 1 / 16]) {
            await hear(decoder, [other.map((sample) => sample * volume)]);
            const saved: unknown = JSON.parse(JSON.stringify(decoder.save()));
            assert.ok(Array.isArray(saved) && saved.every((value) => typeof value === "number"));
            const expected = await withDecoder(mode, 3, async (restored) => {
              restored.restore(saved);
              return hearLive(restored, spoken);
            });
            assert.deepEqual(await hearLive(decoder, spoken), expected, mode);
            // Nothing is learnt in this mode, at no volume.
            if (saved.length === 0) break;
          }
        });
      }
    });

    test("sessions side by side do not feel each other", async () => {
      await withDecoder("live", readingsMax, async (one) => {
        await withDecoder("live", 2, async (two) => {
          one.begin();
          two.begin();
          const others = inChunks(other, 1600);
          for (const [index, chunk] of inChunks(spoken, 1600).entries()) {
            await accept(one, chunk);
            await accept(two, others[index] ?? silence(100));
          }
          const [ending, otherEnding] = [one.end(), two.end()];
          let slice = ending.next();
          for (; !slice.done; slice = ending.next()) {
            otherEnding.next();
            await (slice.value ?? turn());
          }
          otherEnding.return([]);
          assert.deepEqual(slice.value, freshOf("live").readings);
        });
      });
    });

    test("its voice activity hears speech and no digital silence", () => {
      const activity = engine.createVoiceActivity();
      const frames = inChunks(joined(silence(1000), spoken), activity.frameSamples);
      const isSpeech = frames
        .filter(({ length }) => length === activity.frameSamples)
        .map((frame) => activity.isSpeech(frame));
      const first = isSpeech.indexOf(true) * activity.frameSamples;
      assert.ok(first >= 16_000, `speech at ${first / 16} ms`);
      assert.ok(isSpeech.filter(Boolean).length > isSpeech.length / 4);
    });

    test("its voice activity goes on in another process as if nothing had happened", () => {
      const samples = joined(silence(400), spoken, noise(700, 200), other, noise(3500, 30), spoken);
      const { frameSamples } = engine.createVoiceActivity();
      const frames = inChunks(samples, frameSamples).filter(
        ({ length }) => length === frameSamples,
      );
      const whole = engine.createVoiceActivity();
      const expected: boolean[] = [];
      const saved = frames.map((frame) => {
        const text = JSON.stringify(whole.save());
        expected.push(whole.isSpeech(frame));
        return text;
      });
      for (let from = 0; from < frames.length; from += 7) {
        const fresh = engine.createVoiceActivity();
        fresh.restore(JSON.parse(saved[from] ?? ""));
        const rest = frames.slice(from).map((frame) => fresh.isSpeech(frame));
        assert.deepEqual(rest, expected.slice(from), `from frame ${from}`);
      }
    });
  });
}

function sayEnglish() {
  return {
    spoken: flite("The weather is good today", { voice: "rms" }),
    other: flite("Seven men", { voice: "awb" }),
  };
}

/** As a process does it: between two slices others have their turns. */
async function drain(decoder: Decoder): Promise<readonly Hypothesis[]> {
  const ending = decoder.end();
  let slice = ending.next();
  for (; !slice.done; slice = ending.next()) await (slice.value ?? turn());
  return slice.value;
}

async function accept(decoder: Decoder, samples: Int16Array): Promise<void> {
  decoder.accept(samples);
  for (let work = decoder.work(); work !== false; work = decoder.work()) {
    await (work === true ? turn() : work);
  }
}

async function hear(
  decoder: Decoder,
  chunks: readonly Int16Array[],
): Promise<readonly Hypothesis[]> {
  decoder.begin();
  for (const chunk of chunks) await accept(decoder, chunk);
  return await drain(decoder);
}

/** Everything that a session says of these samples: partial readings too. */
async function hearLive(decoder: Decoder, samples: Int16Array): Promise<Heard> {
  decoder.begin();
  const partials: (Hypothesis | undefined)[] = [];
  for (const chunk of inChunks(samples, 1600)) {
    await accept(decoder, chunk);
    partials.push(decoder.partial());
  }
  return { partials, readings: await drain(decoder) };
}

function inChunks(samples: Int16Array, length: number): Int16Array[] {
  const count = Math.ceil(samples.length / length);
  return Array.from({ length: count }, (_, n) => samples.subarray(n * length, (n + 1) * length));
}

function checkReading(reading: Hypothesis, lengthMs: number): void {
  assert.equal(reading.text, reading.text.trim());
  assert.notEqual(reading.text, "");
  if (reading.words.length > 0) {
    assert.equal(reading.words.map(({ text }) => text).join(" "), reading.text);
  }
  let lastMs = 0;
  for (const { text, startMs, endMs, confidence } of reading.words) {
    assert.match(text, /^[^\s()<>[\]+]+$/);
    assert.ok(Number.isInteger(startMs) && Number.isInteger(endMs), `${startMs} ${endMs}`);
    assert.ok(startMs >= lastMs && endMs > startMs && endMs <= Math.ceil(lengthMs), text);
    lastMs = endMs;
    if (confidence !== undefined) assert.ok(confidence >= 0 && confidence <= 1);
  }
  const { confidence } = reading;
  if (confidence !== undefined) assert.ok(confidence >= 0 && confidence <= 1);
}
