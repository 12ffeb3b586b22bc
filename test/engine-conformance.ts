import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Decoder, Engine, Hypothesis, RecognitionMode } from "../src/engines/engine.ts";
import { flite, joined, silence } from "./flite.ts";

/** What every engine must do. `heard` matches the text of "The weather is good today". */
export function testEngine(
  name: string,
  open: () => Engine | Promise<Engine>,
  heard: RegExp,
): void {
  const modes: readonly RecognitionMode[] = ["live", "short", "job"];
  /** For tests that hear much: job hears as short does. */
  const twoModes: readonly RecognitionMode[] = ["live", "short"];

  describe(`${name}, as every engine,`, () => {
    let engine: Engine;
    let spoken: Int16Array;
    let other: Int16Array;
    before(async () => {
      engine = await open();
      const [lead, trail] = [silence(300), silence(300)];
      spoken = joined(lead, flite("The weather is good today", { voice: "rms" }), trail);
      other = joined(lead, flite("Seven men", { voice: "awb" }), trail);
    });
    after(() => {
      engine.close();
    });

    /** A decoder for the length of one test step. */
    function withDecoder<T>(
      mode: RecognitionMode,
      alternativesMax: number,
      use: (decoder: Decoder) => T,
    ): T {
      const decoder = engine.createDecoder({ mode, alternativesMax });
      try {
        return use(decoder);
      } finally {
        decoder.close();
      }
    }

    test("it names itself and its languages", () => {
      assert.match(engine.name, /^[a-z][a-z0-9-]*$/);
      assert.ok(engine.languageCodes.length > 0);
      assert.ok(engine.utteranceMsMax >= 1000);
      for (const code of engine.languageCodes) assert.match(code, /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/);
    });

    test("it hears what is said, in every mode", () => {
      for (const mode of modes) {
        const [best] = withDecoder(mode, 1, (decoder) => hear(decoder, [spoken]));
        assert.match(best?.text ?? "", heard, mode);
      }
    });

    test("its readings are distinct, best first, and at most as many as asked for", () => {
      for (const alternativesMax of [1, 2, 10]) {
        const readings = withDecoder("short", alternativesMax, (decoder) =>
          hear(decoder, [spoken]),
        );
        const texts = readings.map(({ text }) => text);
        assert.ok(texts.length >= 1 && texts.length <= alternativesMax);
        assert.equal(new Set(texts).size, texts.length);
        assert.match(texts[0] ?? "", heard);
        if (alternativesMax > 1) assert.ok(texts.length > 1, "there is more than one reading");
      }
    });

    test("its words make up the text, in order, within the utterance", () => {
      for (const mode of modes) {
        const readings = withDecoder(mode, 5, (decoder) => hear(decoder, [spoken]));
        for (const reading of readings) checkReading(reading, spoken.length / 16);
        assert.ok(readings[0] && readings[0].words.length > 0);
      }
    });

    test("any split of the samples gives the same", () => {
      for (const mode of twoModes) {
        const whole = withDecoder(mode, 3, (decoder) => hear(decoder, [spoken]));
        for (const length of [7, 160, 16_001]) {
          const chunks = inChunks(spoken, length);
          const split = withDecoder(mode, 3, (decoder) => hear(decoder, chunks));
          assert.deepEqual(split, whole, `${mode}, chunks of ${length}`);
        }
      }
    });

    test("live, it tells what it has heard so far", () => {
      withDecoder("live", 1, (decoder) => {
        assert.equal(decoder.partial(), undefined);
        decoder.begin();
        assert.equal(decoder.partial(), undefined);
        const texts = new Set<string>();
        for (const chunk of inChunks(spoken, 1600)) {
          decoder.accept(chunk);
          const partial = decoder.partial();
          if (!partial) continue;
          checkReading(partial, spoken.length / 16);
          texts.add(partial.text);
        }
        assert.ok(texts.size >= 3, `${texts.size} partial readings`);
        drain(decoder);
        decoder.begin();
        assert.equal(decoder.partial(), undefined, "the next utterance begins anew");
        drain(decoder);
      });
    });

    test("nothing said is nothing heard", () => {
      for (const mode of modes) {
        withDecoder(mode, 3, (decoder) => {
          assert.deepEqual(hear(decoder, []), []);
          assert.deepEqual(hear(decoder, [silence(5)]), []);
          assert.match(hear(decoder, [spoken])[0]?.text ?? "", heard);
        });
      }
    });

    test("it ends an utterance in slices", () => {
      if (engine.name === "scripted") return;
      withDecoder("job", 1, (decoder) => {
        decoder.begin();
        decoder.accept(spoken);
        const slices = [...decoder.end()].length;
        assert.ok(slices >= spoken.length / 1600 - 1, `${slices} slices`);
      });
    });

    test("what one session said is never felt by the next", () => {
      for (const mode of twoModes) {
        const fresh = withDecoder(mode, 3, (decoder) => hearLive(decoder, spoken));
        // Loud, far from the mean of speech, long: what would move any average that is kept.
        const strange = other.map((sample) => Math.max(-32_768, Math.min(32_767, sample * 8)));
        withDecoder(mode, 1, (decoder) => {
          for (let count = 0; count < 2; count++) hear(decoder, [strange]);
        });
        const reused = withDecoder(mode, 3, (decoder) => hearLive(decoder, spoken));
        assert.deepEqual(reused, fresh, mode);
      }
    });

    test("a final depends on its own utterance alone", () => {
      for (const mode of twoModes) {
        withDecoder(mode, 3, (decoder) => {
          const first = hear(decoder, [spoken]);
          hear(decoder, [other.map((sample) => sample >> 4)]);
          assert.deepEqual(hear(decoder, [spoken]), first, mode);
        });
      }
    });

    test("sessions side by side do not feel each other", () => {
      const alone = withDecoder("live", 2, (decoder) => hear(decoder, [spoken]));
      withDecoder("live", 2, (one) => {
        withDecoder("live", 2, (two) => {
          one.begin();
          two.begin();
          const others = inChunks(other, 1600);
          for (const [index, chunk] of inChunks(spoken, 1600).entries()) {
            one.accept(chunk);
            two.accept(others[index] ?? silence(100));
          }
          const [ending, otherEnding] = [one.end(), two.end()];
          let slice = ending.next();
          for (; !slice.done; slice = ending.next()) otherEnding.next();
          otherEnding.return([]);
          assert.deepEqual(slice.value, alone);
        });
      });
    });

    test("a decoder can be closed anywhere, and the engine hears on", () => {
      for (const mode of twoModes) {
        withDecoder(mode, 1, (decoder) => {
          decoder.begin();
          decoder.accept(spoken.subarray(0, 20_000));
        });
        withDecoder(mode, 1, (decoder) => {
          decoder.begin();
          decoder.accept(spoken);
          const ending = decoder.end();
          ending.next();
          ending.return([]);
        });
        const [best] = withDecoder(mode, 1, (decoder) => hear(decoder, [spoken]));
        assert.match(best?.text ?? "", heard);
      }
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
  });
}

function drain(decoder: Decoder): readonly Hypothesis[] {
  const ending = decoder.end();
  let slice = ending.next();
  while (!slice.done) slice = ending.next();
  return slice.value;
}

function hear(decoder: Decoder, chunks: readonly Int16Array[]): readonly Hypothesis[] {
  decoder.begin();
  for (const chunk of chunks) decoder.accept(chunk);
  return drain(decoder);
}

/** Everything that a session says of these samples: partial readings too. */
function hearLive(decoder: Decoder, samples: Int16Array): unknown {
  decoder.begin();
  const partials = inChunks(samples, 1600).map((chunk) => {
    decoder.accept(chunk);
    return decoder.partial();
  });
  return { partials, readings: drain(decoder) };
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
