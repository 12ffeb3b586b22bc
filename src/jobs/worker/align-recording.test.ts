import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { icelandicSentences } from "../../../bench/icelandic-sentences.ts";
import { espeakTimedWords } from "../../../test/fixtures/espeak-words.ts";
import { silence, type TimedSpeech } from "../../../test/fixtures/flite.ts";
import { openStarter } from "../../../test/fixtures/open-starter.ts";
import { makeSpokenText, type SpokenText } from "../../../test/fixtures/spoken-text.ts";
import type { Aligner } from "../../engines/protocol/alignment.ts";
import type { Engine } from "../../engines/protocol/engine.ts";
import { ServiceError } from "../../std/service-error.ts";
import { alignRecording, type SpokenSegment } from "./align-recording.ts";
import { HeldAudio } from "./held-audio.ts";

const signal = new AbortController().signal;
let engine: Engine;
let spoken: readonly TimedSpeech[];
let text: SpokenText;
before(async () => {
  engine = await openStarter("streaming");
  spoken = await Promise.all(
    icelandicSentences.map((sentence, at) =>
      espeakTimedWords(sentence, at % 2 === 0 ? "is" : "is+f2"),
    ),
  );
  text = makeSpokenText(spoken, { minutes: 6, seed: 5 });
});
after(() => engine.close());

/** The starter model in this process. */
const aligner: Pick<Aligner, "align"> = {
  async align(window, words) {
    assert.ok(window instanceof Int16Array);
    const slices = engine.align?.(window, words);
    assert.ok(slices);
    for (;;) {
      const { done, value } = slices.next();
      if (done) return value;
      if (value) await value;
    }
  },
};

async function* inChunks(samples: Int16Array): AsyncGenerator<Int16Array> {
  for (let at = 0; at < samples.length; at += 8000) yield samples.subarray(at, at + 8000);
}

async function align(
  segments: readonly SpokenSegment[],
  { samples = text.samples, by = aligner }: { samples?: Int16Array; by?: typeof aligner } = {},
) {
  const progress: number[] = [];
  const onProgress = (ms: number) => progress.push(ms);
  const options = { languageCode: "is-IS", aligner: by, signal, onProgress, retryMs: 1 };
  const { segments: found, durationMs } = await alignRecording(
    new HeldAudio(inChunks(samples), 16_000),
    segments,
    options,
  );
  assert.equal(durationMs, Math.floor(samples.length / 16));
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  );
  assert.equal(progress.at(-1), durationMs);
  assert.deepEqual(
    found.map(({ length }) => length),
    segments.map(({ words }) => words.length),
  );
  let lastMs = 0;
  for (const { startMs, endMs } of found.flat()) {
    assert.ok(startMs >= lastMs && endMs >= startMs && endMs <= durationMs);
    lastMs = startMs;
  }
  return found;
}

/** The share of the spoken words that begin within 100 ms of their time. */
function inTime(found: Awaited<ReturnType<typeof align>>, truth = text.startsMs): number {
  const offs = truth.flatMap((starts, segment) =>
    starts.flatMap((startMs, word) =>
      startMs === undefined ? [] : [Math.abs((found[segment]?.[word]?.startMs ?? 1e9) - startMs)],
    ),
  );
  return offs.filter((off) => off <= 100).length / offs.length;
}

test("95 % of the words begin in time, though words are replaced and sentences moved", async () => {
  const share = inTime(await align(text.segments));
  assert.ok(share >= 0.95, `${share}`);
});

test("times that are wrong by half a minute, and none at all, are corrected", async () => {
  const late = text.segments.map((segment) => ({
    ...segment,
    startMs: segment.startMs + 30_000,
    endMs: segment.endMs + 30_000,
  }));
  const lateShare = inTime(await align(late));
  assert.ok(lateShare >= 0.9, `${lateShare}`);
  const one = [{ startMs: 0, endMs: 360_000, words: text.segments.flatMap(({ words }) => words) }];
  const oneShare = inTime(await align(one), [text.startsMs.flat()]);
  assert.ok(oneShare >= 0.95, `${oneShare}`);
});

test("two minutes without text, and half a minute of text without sound, are passed", async () => {
  const isLeftOut = ({ startMs }: SpokenSegment) => startMs > 120_000 && startMs < 240_000;
  const kept = text.segments.flatMap((segment, index) => (isLeftOut(segment) ? [] : [index]));
  const withoutText = await align(kept.map((index) => text.segments[index] ?? assert.fail()));
  const truth = kept.map((index) => text.startsMs[index] ?? []);
  const keptShare = inTime(withoutText, truth);
  assert.ok(keptShare >= 0.93, `${keptShare}`);
  const samples = text.samples.slice();
  samples.fill(0, 120_000 * 16, 150_000 * 16);
  const withoutSound = await align(text.segments, { samples });
  const said = text.startsMs.map((starts) =>
    starts.map((startMs) =>
      startMs === undefined || startMs < 118_000 || startMs > 152_000 ? startMs : undefined,
    ),
  );
  const share = inTime(withoutSound, said);
  assert.ok(share >= 0.93, `${share}`);
});

test("text of another recording keeps about its own times, with low scores", async () => {
  const samples = silence(300_000);
  const found = await align(text.segments, { samples });
  const scores = found.flat().map(({ score }) => score);
  assert.ok(scores.every((score) => score < 0.4));
});

test("recordings without text, without sound, and segments without words are accepted", async () => {
  assert.deepEqual(await align([]), []);
  assert.deepEqual(await align([], { samples: silence(0) }), []);
  const segments = [
    { startMs: 0, endMs: 1000, words: [] },
    { startMs: 1000, endMs: 900, words: ["orð"] },
    { startMs: 1e9, endMs: 1e9, words: ["eftir", "allt"] },
  ];
  const found = await align(segments, { samples: silence(2000) });
  assert.deepEqual(
    found.map(({ length }) => length),
    [0, 1, 2],
  );
  await align(segments, { samples: silence(0) });
});

test("a lost engine is tried again, and other failures end the alignment", async () => {
  const unavailable = new ServiceError("unavailable", "the engine was lost");
  const failures: Error[] = [
    unavailable,
    new ServiceError("resource_exhausted", "busy"),
    unavailable,
  ];
  const failing: typeof aligner = {
    align: (window, words, options) => {
      const failure = failures.shift();
      return failure ? Promise.reject(failure) : aligner.align(window, words, options);
    },
  };
  assert.ok(inTime(await align(text.segments, { by: failing })) >= 0.95);
  assert.equal(failures.length, 0);
  failures.push(...Array.from({ length: 10 }, () => unavailable));
  await assert.rejects(align(text.segments, { by: failing }), { message: "the engine was lost" });
  failures.splice(0, failures.length, new ServiceError("failed_precondition", "cannot align"));
  await assert.rejects(align(text.segments, { by: failing }), { message: "cannot align" });
});
