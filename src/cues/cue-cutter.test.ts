import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { overlappingSpeech } from "../../test/fixtures/drawn-speech.ts";
import type { Cue } from "./cue.ts";
import { CueCutter } from "./cue-cutter.ts";
import { subtitlesOf } from "./subtitles.ts";
import type { TimedWord, TimedWords } from "./timed-words.ts";

/** Cuts to the end, and counts the steps. */
function cut(cutter: CueCutter, segments: readonly TimedWords[], limitMs?: number) {
  const cutting = cutter.cut(segments, limitMs);
  for (let steps = 0; ; steps += 1) {
    const step = cutting.next();
    if (step.done) return { cues: step.value, steps };
  }
}

test("a cutter returns the same cues after any change as one that knows nothing yet", () => {
  fc.assert(
    fc.property(overlappingSpeech(4_000), fc.nat(), fc.nat(), (segments, changed, removed) => {
      const cutter = new CueCutter();
      assert.deepEqual(cut(cutter, segments).cues, subtitlesOf(segments));
      const edited: TimedWords[] = segments.flatMap((segment, at) => {
        if (at === removed % (segments.length + 1)) return [];
        if (at !== changed % (segments.length + 1)) return [segment];
        return [{ ...segment, words: segment.words.slice(1) }];
      });
      assert.deepEqual(cut(cutter, edited, 90_000).cues, subtitlesOf(edited, 90_000));
    }),
  );
});

/** Words that count how often their text is read. */
function countedWords(startMs: number): { readonly words: TimedWord[]; reads: () => number } {
  let reads = 0;
  const words = Array.from({ length: 20 }, (_, at) => ({
    get text() {
      reads += 1;
      return "orð ";
    },
    startMs: startMs + at * 400,
    endMs: startMs + at * 400 + 300,
  }));
  return { words, reads: () => reads };
}

test("a segment that has not changed is not cut again, and the cutter yields after each segment", () => {
  const cutter = new CueCutter();
  const counted = [0, 10_000, 20_000].map(countedWords);
  const segments = counted.map(({ words }) => ({ speakerId: "", words }));
  const { cues, steps } = cut(cutter, segments);
  assert.equal(steps, 6);
  const readsOf = () => counted.map(({ reads }) => reads());
  const before = readsOf();
  const [first, second, third] = segments;
  assert.ok(first && second && third);
  assert.deepEqual(cut(cutter, [first, second, third]).cues, cues);
  assert.deepEqual(readsOf(), before);
  const changed = { ...second, speakerId: "2" };
  const again = cut(cutter, [first, changed, third]).cues;
  const speakers = (all: readonly Cue[]) => new Set(all.map(({ speakerId }) => speakerId)).size;
  assert.deepEqual([speakers(cues), speakers(again)], [1, 2]);
  const [one, other] = [readsOf(), before];
  assert.deepEqual([one[0], one[2]], [other[0], other[2]], "only the changed one is read");
});
