import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { joinUtterances } from "../protocol/kept-outputs.ts";
import { leadFrames } from "./decoder-parts.ts";
import { featureMs } from "./filter-banks.ts";
import { keptEmissions, type KeptEmissions, type KeptLayout } from "./kept-emissions.ts";
import { OutputsWriter } from "./outputs-writer.ts";

const leadMs = leadFrames * featureMs;
const layout: KeptLayout = { tokenCount: 5, blank: 4, frameMs: 40, delayMs: 0 };

function read(bytes: Uint8Array, windowMs: number, how = layout): KeptEmissions {
  const slices = keptEmissions({ bytes, windowMs }, how);
  for (;;) {
    const { done, value } = slices.next();
    if (done) return value;
  }
}

/** Writes frames, each with the log probabilities of all tokens. */
function written(frames: readonly (readonly number[])[], { tokenCount, blank } = layout) {
  const writer = new OutputsWriter(tokenCount, blank);
  for (const logs of frames) writer.add(Float32Array.from(logs), 0);
  return writer.take();
}

/** An utterance whose frames have one sure token each. */
function sureTokens(tokens: readonly number[]): Uint8Array {
  return written(
    tokens.map((sure) => Array.from({ length: 5 }, (_, at) => (at === sure ? 0 : -9))),
  );
}

/** The likeliest token of each frame. */
function tokensOf({ logs, frames, tokenCount }: KeptEmissions): number[] {
  return Array.from({ length: frames }, (_, frame) => {
    const each = logs.subarray(frame * tokenCount, (frame + 1) * tokenCount);
    return each.indexOf(Math.max(...each));
  });
}

test("the likeliest tokens of each frame keep their log probabilities, whatever their numbers", () => {
  for (const tokenCount of [5, 256, 257, 1000]) {
    const how = { ...layout, tokenCount, blank: tokenCount - 1 };
    const frame = fc
      .uniqueArray(fc.tuple(fc.nat(tokenCount - 1), fc.float({ min: -5, max: 0, noNaN: true })), {
        minLength: 1,
        maxLength: 4,
        selector: ([token]) => token,
      })
      .map((likely) => new Map(likely));
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 300 }), (frames) => {
        const dense = frames.map((likely) =>
          Array.from({ length: tokenCount }, (_, token) => likely.get(token) ?? -15),
        );
        const bytes = joinUtterances([{ startMs: leadMs, bytes: written(dense, how) }]);
        const found = read(bytes, leadMs + frames.length * 40, how);
        // The frames of the silence before an utterance are left out.
        const skipped = Math.round((leadMs - 40) / 40);
        const before = Math.round(leadMs / 40) - 1;
        for (const [index, likely] of frames.slice(skipped).entries()) {
          for (const [token, log] of likely) {
            const kept = found.logs[(before + index) * tokenCount + token] ?? 0;
            assert.ok(Math.abs(kept - log) <= 0.011, `${index} ${token} ${kept} ${log}`);
          }
        }
      }),
      { numRuns: 30 },
    );
  }
});

test("an hour of silence takes little room, and is blank", () => {
  const bytes = sureTokens(Array.from({ length: 90_000 }, () => 4));
  assert.equal(bytes.length, Math.ceil(90_000 / 128));
  const found = read(joinUtterances([{ startMs: 0, bytes }]), 3_600_000);
  assert.equal(found.frames, 90_000);
  assert.ok(tokensOf(found).every((token) => token === 4));
});

test("a writer that is cleared has nothing of the utterance before", () => {
  const writer = new OutputsWriter(5, 4);
  writer.add(Float32Array.of(-9, 0, -9, -9, -9), 0);
  writer.clear();
  assert.deepEqual(writer.take(), new Uint8Array(0));
});

test("utterances stand where they were said, with blank between them, and times that rise evenly", () => {
  const lead = Array.from({ length: leadMs / 40 }, () => 4);
  const bytes = joinUtterances([
    { startMs: 1010, bytes: sureTokens([...lead, 1, 1, 2]) },
    { startMs: 105, bytes: sureTokens([...lead, 0, 3]) },
  ]);
  const found = read(bytes, 2000);
  assert.ok(Math.abs(found.frames - 50) <= 1);
  const spoken = tokensOf(found).flatMap((token, frame) =>
    token === 4 ? [] : [[token, found.timesMs[frame]]],
  );
  assert.deepEqual(spoken, [
    [0, 105],
    [3, 145],
    [1, 1010],
    [1, 1050],
    [2, 1090],
  ]);
  for (let frame = 1; frame < found.frames; frame++) {
    const step = (found.timesMs[frame] ?? 0) - (found.timesMs[frame - 1] ?? 0);
    assert.ok(step >= 20 && step < 80, `${step}`);
  }
});

test("the silence that a decoder puts between utterances without a pause hides neither of them", () => {
  const pad = Array.from({ length: leadMs / 40 }, () => 4);
  const bytes = joinUtterances([
    { startMs: 0, bytes: sureTokens([...pad, 1, 1, 1, 1, 1, ...pad]) },
    { startMs: 200, bytes: sureTokens([...pad, 2, 2, 2, 2, 2, ...pad]) },
  ]);
  const found = read(bytes, 400);
  assert.equal(found.frames, 10);
  assert.deepEqual(tokensOf(found), [1, 1, 1, 1, 1, 2, 2, 2, 2, 2]);
});

test("the times of frames rise by about a frame, wherever utterances begin and however they overlap", () => {
  const utterance = fc.record({
    startMs: fc.integer({ min: -1000, max: 3000 }),
    tokens: fc.array(fc.nat(4), { maxLength: 40 }),
  });
  const property = fc.property(fc.array(utterance), fc.nat(2500), (all, windowMs) => {
    const utterances = all.map(({ startMs, tokens }) => ({ startMs, bytes: sureTokens(tokens) }));
    const { frames, timesMs } = read(joinUtterances(utterances), windowMs);
    assert.equal(timesMs.length, frames);
    let lastMs = -20;
    for (const ms of timesMs) {
      assert.ok(ms >= lastMs + 20 && ms <= lastMs + 60 && ms < windowMs, `${lastMs} ${ms}`);
      lastMs = ms;
    }
    assert.ok(windowMs - lastMs <= 60);
  });
  fc.assert(property);
});

test("parts of utterances outside the window are left out", () => {
  const bytes = joinUtterances([
    { startMs: -5000, bytes: sureTokens([0, 0, 0]) },
    { startMs: -leadMs, bytes: sureTokens(Array.from({ length: 500 }, () => 1)) },
    { startMs: 90_000, bytes: sureTokens([2, 2]) },
  ]);
  const found = read(bytes, 1000);
  assert.deepEqual(new Set(tokensOf(found)), new Set([1]));
  assert.equal(found.frames, 25);
  assert.equal(read(joinUtterances([]), 0).frames, 0);
});

test("damaged bytes are refused, and never loop", () => {
  const bad = [Uint8Array.of(0), Uint8Array.of(2, 1, 0), Uint8Array.of(1, 77, 0)];
  for (const bytes of bad) {
    const joined = joinUtterances([{ startMs: 200, bytes }]);
    assert.throws(() => read(joined, 1000, { ...layout, delayMs: -200 }), RangeError);
  }
});
