import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { flite, joined, noise, silence, type Voice } from "../../../test/fixtures/flite.ts";
import { cutPieces, pieceMsMax, type Piece } from "./cut-pieces.ts";

const rate = 16_000;

/**
 * Generates alternating loud and silent sections of these lengths in ms. The first section is loud.
 */
function stretches(lengths: readonly number[], noise = 0, offset = 0): Int16Array {
  const total = lengths.reduce((sum, ms) => sum + ms, 0);
  const samples = new Int16Array((total * rate) / 1000);
  let at = 0;
  for (const [index, ms] of lengths.entries()) {
    const end = at + (ms * rate) / 1000;
    const level = index % 2 === 0 ? 6_000 : noise;
    for (; at < end; at++) samples[at] = offset + (at % 2 === 0 ? level : -level);
  }
  return samples;
}

async function* split(samples: Int16Array, size: number): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += size) yield samples.subarray(at, at + size);
}

async function cut(samples: Int16Array, size = 4_096): Promise<Piece[]> {
  return await Array.fromAsync(cutPieces(split(samples, size), rate));
}

function isLoudAt(samples: Int16Array, ms: number): boolean {
  const at = (ms * rate) / 1000;
  return Math.abs((samples[at] ?? 0) - (samples[at + 1] ?? 0)) > 6_000;
}

test("`cutPieces()` cuts in pauses, loses or repeats no sample, and makes no piece too long", async () => {
  // Words of 300 to 900 ms, pauses of 120 ms to 1 s, for three minutes, with noise and an offset.
  const words = fc.array(
    fc.tuple(fc.integer({ min: 300, max: 900 }), fc.integer({ min: 120, max: 1_000 })),
    {
      minLength: 1,
      maxLength: 150,
    },
  );
  const size = fc.integer({ min: 1, max: 100_000 });
  const level = fc.integer({ min: 0, max: 1_000 });
  const offset = fc.integer({ min: -20_000, max: 20_000 });
  await fc.assert(
    fc.asyncProperty(words, size, level, offset, async (pairs, size, level, offset) => {
      const samples = stretches(pairs.flat(), level, offset);
      const pieces = await cut(samples, size);
      let end = 0;
      for (const [index, piece] of pieces.entries()) {
        assert.equal(piece.index, index);
        assert.equal(piece.startMs, end);
        assert.ok(piece.endMs - piece.startMs <= pieceMsMax);
        assert.equal(piece.samples.length, ((piece.endMs - piece.startMs) * rate) / 1000);
        assert.deepEqual(
          piece.samples,
          samples.slice((piece.startMs * rate) / 1000, (piece.endMs * rate) / 1000),
        );
        if (index > 0) assert.equal(isLoudAt(samples, piece.startMs), false, `${piece.startMs}`);
        end = piece.endMs;
      }
      assert.equal(end, (samples.length * 1000) / rate);
    }),
    { numRuns: 20, seed: 7 },
  );
});

test("`cutPieces()` prefers a long pause to an equally quiet short one, and accepts a noisy pause", async () => {
  const speech = (ms: number): number[] =>
    Array.from({ length: ms / 500 }, () => [400, 100]).flat();
  const long = stretches([...speech(18_000), 400, 900, ...speech(15_000)]);
  assert.ok(Math.abs(((await cut(long))[0]?.endMs ?? 0) - 18_850) < 200);
  const noisy = stretches([...speech(18_000), 400, 900, ...speech(15_000)], 300);
  assert.ok(Math.abs(((await cut(noisy))[0]?.endMs ?? 0) - 18_850) < 200);
});

test("`cutPieces()` cuts sound without pauses, and silence, at the maximum piece length", async () => {
  const sound = await cut(stretches([70_000]));
  assert.ok(sound.length >= 3 && sound.length <= 6, `${sound.length}`);
  const silence = await cut(stretches([0, 70_000]));
  assert.equal(silence.length, 3);
  assert.deepEqual(await cut(new Int16Array(0)), []);
  assert.equal((await cut(stretches([10])))[0]?.endMs, 10);
});

/**
 * Returns the speech from its first loud sample to its last, since flite puts silence around it.
 */
function spoken(text: string, voice: Voice): Int16Array {
  const samples = flite(text, { voice });
  const isLoud = (sample: number): boolean => Math.abs(sample) > 150;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1);
}

const phrases = [
  "good morning",
  "we hold these truths",
  "open the window",
  "all happy families",
].flatMap((text) => (["slt", "rms"] as const).map((voice) => spoken(text, voice)));

/**
 * Returns two minutes of phrases with the short pauses of hurried speech, and their times in ms.
 */
function hurried(): { samples: Int16Array; speech: (readonly [number, number])[] } {
  const parts: Int16Array[] = [];
  const speech: (readonly [number, number])[] = [];
  let ms = 0;
  for (let nth = 0; ms < 120_000; nth++) {
    const phrase = phrases[(nth * 5) % phrases.length] ?? silence(0);
    const pause = silence(130 + ((nth * 37) % 70));
    parts.push(phrase, pause);
    speech.push([ms, ms + (phrase.length * 1000) / rate]);
    ms += ((phrase.length + pause.length) * 1000) / rate;
  }
  return { samples: joined(...parts), speech };
}

function mixed(samples: Int16Array, other: (at: number) => number): Int16Array {
  return samples.map((sample, at) => {
    return Math.max(-32_768, Math.min(32_767, Math.round(sample + other(at))));
  });
}

function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

test("`cutPieces()` never cuts inside hurried speech, whether with noise, hum, rumble or offset, quiet or clipped", async () => {
  const { samples, speech } = hurried();
  const hiss = noise((samples.length * 1000) / rate, 10_000);
  const [loud, hissing] = [loudness(samples), loudness(hiss)];
  const sine = (hertz: number, level: number) => (at: number) =>
    level * Math.sin((2 * Math.PI * hertz * at) / rate);
  const hissAt = (db: number) => (at: number) =>
    ((hiss[at] ?? 0) * loud) / hissing / 10 ** (db / 20);
  const recordings: Readonly<Record<string, Int16Array>> = {
    clean: samples,
    "white noise at 20 dB": mixed(samples, hissAt(20)),
    "white noise at 10 dB": mixed(samples, hissAt(10)),
    hum: mixed(samples, sine(50, 4_000)),
    rumble: mixed(samples, sine(17, 5_000)),
    offset: mixed(samples, () => 8_000),
    quiet: samples.map((sample) => sample / 50),
    clipped: samples.map((sample) => Math.max(-3_000, Math.min(3_000, sample * 4))),
  };
  for (const [name, recording] of Object.entries(recordings)) {
    const pieces = await cut(recording);
    assert.ok(pieces.length >= 5, name);
    for (const { startMs } of pieces.slice(1)) {
      const phrase = speech.find(([start, end]) => start + 10 < startMs && startMs < end - 10);
      assert.equal(phrase, undefined, `${name}: cut at ${startMs}`);
    }
  }
});
