import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cutPieces, pieceMsMax, type Piece } from "./cut-pieces.ts";

const rate = 16_000;

/** Alternating loud and silent stretches, in ms, beginning loud. */
function stretches(lengths: readonly number[], noise = 0): Int16Array {
  const total = lengths.reduce((sum, ms) => sum + ms, 0);
  const samples = new Int16Array((total * rate) / 1000);
  let at = 0;
  for (const [index, ms] of lengths.entries()) {
    const end = at + (ms * rate) / 1000;
    const level = index % 2 === 0 ? 6_000 : noise;
    for (; at < end; at++) samples[at] = at % 2 === 0 ? level : -level;
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
  return Math.abs(samples[(ms * rate) / 1000] ?? 0) > 3_000;
}

test("`cutPieces()` cuts in pauses, takes every sample once and keeps to the longest piece", async () => {
  // Words of 300 to 900 ms, pauses of 150 ms to 1 s, for three minutes.
  const words = fc.array(
    fc.tuple(fc.integer({ min: 30, max: 90 }), fc.integer({ min: 15, max: 100 })),
    {
      minLength: 1,
      maxLength: 150,
    },
  );
  await fc.assert(
    fc.asyncProperty(words, fc.integer({ min: 1, max: 100_000 }), async (pairs, size) => {
      const samples = stretches(pairs.flatMap(([word, pause]) => [word * 10, pause * 10]));
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
    { numRuns: 20 },
  );
});

test("`cutPieces()` prefers a long pause to a short one that is as quiet, and takes a noisy one", async () => {
  const speech = (ms: number): number[] =>
    Array.from({ length: ms / 500 }, () => [400, 100]).flat();
  const long = stretches([...speech(18_000), 400, 900, ...speech(15_000)]);
  assert.ok(Math.abs(((await cut(long))[0]?.endMs ?? 0) - 18_850) < 200);
  const noisy = stretches([...speech(18_000), 400, 900, ...speech(15_000)], 300);
  assert.ok(Math.abs(((await cut(noisy))[0]?.endMs ?? 0) - 18_850) < 200);
});

test("`cutPieces()` cuts sound without pauses and silence at the longest piece", async () => {
  const sound = await cut(stretches([70_000]));
  assert.ok(sound.length >= 3 && sound.length <= 6, `${sound.length}`);
  const silence = await cut(stretches([0, 70_000]));
  assert.equal(silence.length, 3);
  assert.deepEqual(await cut(new Int16Array(0)), []);
  assert.equal((await cut(stretches([10])))[0]?.endMs, 10);
});
