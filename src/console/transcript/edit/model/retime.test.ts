import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  assertAccepted,
  drawnEdits,
  drawnMove,
  drawnPlace,
  drawnSegments,
  type Edited,
  timedText,
  withMove,
} from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, type EditedParagraph, paragraphsOf } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { type Retimed, retimed, type TimeMove } from "./retime.ts";
import { noRetimings, withoutOwn, type WordTimes } from "./retimings.ts";

/** Segments of two speakers; the first word starts at 1 s to the nanosecond. */
const base = baseOf([
  {
    startTime: "0.500s",
    endTime: "5s",
    speakerId: "1",
    words: [
      { startTime: "1.000000001s", endTime: "2s", word: "eitt " },
      { startTime: "3s", endTime: "4s", word: "tvö" },
    ],
  },
  {
    startTime: "5s",
    endTime: "9s",
    speakerId: "1",
    words: [{ startTime: "6s", endTime: "7s", word: "þrjú" }],
  },
  {
    startTime: "6.500s",
    endTime: "9s",
    speakerId: "2",
    words: [
      { startTime: "6.500s", endTime: "8s", word: "fjögur " },
      { startTime: "7.500s", endTime: "9s", word: "fimm" },
    ],
  },
]);

function unedited(paragraphs: readonly EditedParagraph[] = paragraphsOf(base)): Edited {
  return { base, paragraphs: [...paragraphs], retimings: noRetimings };
}

function brief(found: Retimed): string {
  if (found.kind !== "set") return found.kind;
  const { text, after, stop } = found;
  const why = stop ? ` ${stop.by} ${stop.word}`.trimEnd() : "";
  return `${text} ${after.startTime}-${after.endTime}${why}`;
}

test("retimed() sets a time as near as the words around it allow, and says what stops it", () => {
  const rows: [paragraph: number, offset: number, move: TimeMove, set: string][] = [
    [0, 0, { edge: "start", by: 0.2 }, "eitt 1.200s-2s"],
    [0, 4, { edge: "start", at: 1.2345678 }, "eitt 1.235s-2s"],
    [0, 0, { edge: "start", at: 0.2 }, "eitt 0.200s-2s"],
    [0, 0, { edge: "start", by: -3 }, "eitt 0s-2s recording"],
    [0, 0, { edge: "start", at: 2.5 }, "eitt 2.500s-2.500s"],
    [0, 0, { edge: "start", at: 3.5 }, "eitt 3s-3s next tvö"],
    [0, 0, { edge: "end", at: 2.9 }, "eitt 1.000000001s-2.900s"],
    [0, 0, { edge: "end", by: 2 }, "eitt 1.000000001s-3s next tvö"],
    [0, 0, { edge: "end", at: 0.5 }, "eitt 1.000000001s-1.000000001s self"],
    [0, 5, { edge: "start", at: 1.5 }, "tvö 2s-4s previous eitt"],
    [0, 8, { edge: "start", by: 0 }, "tvö 3s-4s"],
    [0, 5, { edge: "end", at: 6.5 }, "tvö 3s-6s next þrjú"],
    [1, 0, { edge: "start", at: 0.1 }, "þrjú 4s-7s previous tvö"],
    // Another speaker may be interrupted, but paragraphs stay in order.
    [1, 0, { edge: "end", at: 8.5 }, "þrjú 6s-8.500s"],
    [1, 0, { edge: "start", at: 6.75 }, "þrjú 6.500s-7s order"],
    [2, 0, { edge: "start", at: 5 }, "fjögur 6s-8s order"],
    // Words that overlap already may not do so more.
    [2, 0, { edge: "end", by: 0.1 }, "fjögur 6.500s-8s next fimm"],
    [2, 0, { edge: "end", at: 7.8 }, "fjögur 6.500s-7.800s"],
    [2, 7, { edge: "start", by: -0.1 }, "fimm 7.500s-9s previous fjögur"],
    [2, 7, { edge: "start", at: 99 }, "fimm 10s-10s recording"],
    [2, 7, { edge: "end", at: 99 }, "fimm 7.500s-10s recording"],
  ];
  for (const [paragraph, offset, move, set] of rows) {
    const found = retimed(timedText(unedited()), { paragraph, offset }, { move, latest: 10 });
    assert.equal(brief(found), set, JSON.stringify([paragraph, offset, move]));
  }
});

test("retimed() sets the times of words that were typed, which are computed until then", () => {
  const [one, ...others] = paragraphsOf(base);
  assert.ok(one);
  const text = unedited([{ ...one, text: "eitt og tvo" }, ...others]);
  const caret = { paragraph: 0, offset: 6 };
  const at = (offset: number, paragraph = 0) =>
    brief(retimed(timedText(text), { paragraph, offset }, { move: { edge: "end", by: 0.02 } }));
  assert.deepEqual([at(6), at(9), at(0, 9)], ["og 2s-2.213s", "tvo 3s-4.020s", "none"]);
  assert.equal(at(0), "eitt 1.000000001s-2s next og");
  const found = retimed(timedText(text), caret, { move: { edge: "start", at: 2.5 } });
  assert.ok(found.kind === "set");
  assert.deepEqual(
    [found.word, found.range, found.wasEstimated],
    [undefined, { from: 5, to: 7 }, true],
  );
  const set = withMove(text, caret, { edge: "start", at: 2.5 });
  assert.deepEqual(set.paragraphs[0]?.pins, [
    { from: 5, to: 7, startTime: "2.500s", endTime: "2.500s" },
  ]);
  const again = retimed(timedText(set), caret, { move: { edge: "end", by: 0.02 } });
  assert.equal(brief(again), "og 2.500s-2.520s");
  assert.ok(again.kind === "set" && !again.wasEstimated);
});

test("times that are moved there and back are the word's own", () => {
  const there = withMove(unedited(), { paragraph: 0, offset: 5 }, { edge: "start", by: 0.05 });
  assert.deepEqual(there.retimings.get(1), { startTime: "3.050s", endTime: "4s" });
  const back = withMove(there, { paragraph: 0, offset: 5 }, { edge: "start", by: -0.05 });
  assert.deepEqual(withoutOwn(base, back.retimings), noRetimings);
});

test("a move changes one time of one word, and no words of a speaker overlap more than before", () => {
  fc.assert(
    fc.property(drawnEdits, drawnPlace, drawnMove, (edited, place, move) => {
      const before = timedText(edited);
      const caret = placeIn(edited, place);
      const found = retimed(before, caret, { move });
      if (found.kind !== "set") return;
      const after = timedText(withMove(edited, caret, move));
      for (const [index, paragraph] of edited.paragraphs.entries()) {
        const [old, fresh] = [before.wordsOf(paragraph), after.wordsOf(paragraph)];
        assert.deepEqual(
          fresh.map(({ text, word }) => [text, word]),
          old.map(({ text, word }) => [text, word]),
        );
        for (const [at, word] of fresh.entries()) {
          const wanted: WordTimes | undefined = word.word === found.word ? found.after : old[at];
          if (word.word !== undefined) {
            assert.deepEqual([word.startTime, word.endTime], [wanted?.startTime, wanted?.endTime]);
          }
          const [next, oldNext] = [fresh[at + 1], old[at + 1]];
          if (index !== caret.paragraph || next?.word === undefined) continue;
          if (word.word === undefined || !oldNext) continue;
          const overlap = Math.max(0, word.end - next.start);
          const oldOverlap = Math.max(0, (old[at]?.end ?? 0) - oldNext.start);
          assert.ok(overlap <= oldOverlap + 1e-9, `${word.text}|${next.text}`);
        }
      }
      const wanted = "by" in move ? found.from + move.by : move.at;
      const isFree = Math.abs(found.to - wanted) <= 0.0005 + 1e-9;
      assert.equal(found.stop === undefined, isFree, JSON.stringify([found, wanted]));
    }),
    { numRuns: runs(600) },
  );
});

test("changesOf() has the times that were set, and the service accepts them", () => {
  const moves = fc.array(fc.tuple(drawnPlace, drawnMove), { maxLength: 5 });
  let count = 0;
  fc.assert(
    fc.property(drawnSegments, moves, (segments, list) => {
      const base = baseOf(segments);
      const start: Edited = { base, paragraphs: paragraphsOf(base), retimings: noRetimings };
      const { paragraphs, retimings } = list.reduce(
        (edited, [place, move]) => withMove(edited, placeIn(edited, place), move),
        start,
      );
      const after = segmentsAfter(base, changesOf(base, paragraphs, retimings));
      assertAccepted(after);
      const words = after.flatMap((segment) => segment.words ?? []);
      for (const [word, { startTime, endTime }] of retimings) {
        assert.deepEqual([words[word]?.startTime, words[word]?.endTime], [startTime, endTime]);
        count += 1;
      }
      for (const [at, own] of base.words.entries()) {
        const expected = retimings.get(at);
        assert.deepEqual(words[at], expected ? { ...own, ...expected } : own);
      }
    }),
    { numRuns: runs(400) },
  );
  assert.ok(count > runs(400) / 4, `${count} times`);
});

/** Returns a place of a text from two numbers. */
function placeIn(
  { paragraphs }: Edited,
  place: { readonly paragraph: number; readonly at: number },
) {
  const paragraph = place.paragraph % Math.max(1, paragraphs.length);
  const length = paragraphs[paragraph]?.text.length ?? 0;
  return { paragraph, offset: place.at % (length + 1) };
}
