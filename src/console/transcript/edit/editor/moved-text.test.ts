import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { undo } from "prosemirror-history";
import { differentWords } from "../../../../../test/fixtures/different-words.ts";
import { EditedState } from "../../../../../test/fixtures/edited-state.ts";
import type { Place } from "../../../../../test/fixtures/edit-model.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, type EditedParagraph, paragraphsOf } from "../model/base.ts";
import { changesOf } from "../model/changes.ts";
import { timesOf } from "../model/times.ts";
import { beginStep, deleteSelected } from "./commands.ts";
import { insertLines } from "./insert-text.ts";
import { inTexts } from "./replace-text.ts";

/** Every other segment has no space after its last word. */
const base = baseOf(
  differentWords().map((segment, index) => {
    const { words = [] } = segment;
    const ends = index % 2 === 0 ? words.length - 1 : -1;
    return {
      ...segment,
      words: words.map((each, at) =>
        at === ends ? { ...each, word: each.word?.trimEnd() ?? "" } : each,
      ),
    };
  }),
);
const opened = paragraphsOf(base);

/** Cuts a range of a text; returns what was cut, with a line for each paragraph. */
function cut(edited: EditedState, from: Place, to: Place): string {
  edited.dispatch(edited.selecting(from, to));
  const { doc, selection } = edited.state;
  const text = doc.textBetween(selection.from, selection.to, "\n");
  edited.run(deleteSelected);
  return text;
}

function paste(edited: EditedState, place: Place, text: string): void {
  edited.dispatch(edited.selecting(place, place));
  const { doc, selection } = edited.state;
  const lines = text.split(/\n+/).filter((line) => line !== "");
  const tr = beginStep(edited.state);
  insertLines(tr, inTexts(doc, selection.from, selection.to), lines, base);
  edited.dispatch(tr);
}

/** Asserts that each word has the times of its word of the base, to the digit. */
function assertOwnTimes(paragraphs: readonly EditedParagraph[]): void {
  const words = paragraphs.flatMap((paragraph) => timesOf(base, paragraph));
  assert.deepEqual(
    words.map(({ text, startTime, endTime }) => [text.trim(), startTime, endTime]),
    base.words.map(({ word, startTime, endTime }) => [word?.trim(), startTime, endTime]),
  );
}

/** Draws a paragraph with one after it, and a place between two of its words. */
const drawnCut = fc
  .tuple(fc.nat(opened.length - 2), fc.nat(), fc.boolean())
  .map(([index, at, isNext]) => {
    const text = opened[isNext ? index + 1 : index]?.text ?? "";
    const starts = Array.from(text.matchAll(/(?<=\s)\S/g), (found) => found.index);
    return { index, text, isNext, offset: starts[at % starts.length] ?? 0 };
  });

test("words that are moved to the paragraph next to theirs keep their times to the digit", () => {
  fc.assert(
    fc.property(drawnCut, fc.boolean(), ({ index, text, isNext, offset }, hasSpace) => {
      const edited = new EditedState(base, true);
      const [from, to] = isNext ? [0, offset] : [offset, text.length];
      const paragraph = isNext ? index + 1 : index;
      const place = isNext
        ? { paragraph: index, offset: Infinity }
        : { paragraph: index + 1, offset: 0 };
      const said = cut(edited, { paragraph, offset: from }, { paragraph, offset: to });
      assert.throws(() => assertOwnTimes(edited.paragraphs));
      paste(edited, place, hasSpace ? said : said.trim());
      if (!hasSpace) {
        // The words that meet are one until a space is typed between them.
        const { $head } = edited.state.selection;
        const at = isNext ? $head.pos - said.trim().length : $head.pos;
        const isApart = /\s/.test(edited.state.doc.textBetween(at - 1, at + 1));
        if (!isApart) edited.dispatch(edited.state.tr.insertText(" ", at));
      }
      assertOwnTimes(edited.paragraphs);
      assert.notDeepEqual(changesOf(base, edited.paragraphs), []);
      edited.run(undo);
      edited.run(undo);
      edited.run(undo);
      assert.deepEqual(edited.paragraphs, opened);
    }),
    { numRuns: runs(300) },
  );
});

test("words that are cut over paragraphs and pasted at once keep their times", () => {
  const places = fc.tuple(fc.nat(opened.length - 1), fc.nat(), fc.nat(4), fc.nat());
  fc.assert(
    fc.property(places, ([first, at, more, end]) => {
      const last = Math.min(first + more, opened.length - 1);
      const startOf = (index: number, at: number): number => {
        const { text = "" } = opened[index] ?? {};
        const starts = Array.from(text.matchAll(/\S+/g), (found) => found.index);
        return starts[at % starts.length] ?? 0;
      };
      const [one, other] = [
        { paragraph: first, offset: startOf(first, at) },
        { paragraph: last, offset: startOf(last, end) },
      ];
      const edited = new EditedState(base, true);
      const isOrdered = first < last || one.offset <= other.offset;
      const text = isOrdered ? cut(edited, one, other) : cut(edited, other, one);
      if (text.trim() === "") return;
      const { paragraph, offset } = isOrdered ? one : other;
      paste(edited, { paragraph, offset }, text);
      assertOwnTimes(edited.paragraphs);
    }),
    { numRuns: runs(300) },
  );
});

test("a sentence that is moved to an empty paragraph takes its sound with it", () => {
  const edited = new EditedState(base, true);
  const [first = opened[0]] = opened;
  assert.ok(first);
  const offset = first.text.indexOf(" ") + 1;
  const said = cut(edited, { paragraph: 0, offset }, { paragraph: 0, offset: first.text.length });
  paste(edited, { paragraph: 0, offset }, "x\ny");
  const [, second] = edited.paragraphs;
  assert.equal(second?.text, "y");
  edited.dispatch(edited.selecting({ paragraph: 1, offset: 0 }, { paragraph: 1, offset: 1 }));
  edited.run(deleteSelected);
  paste(edited, { paragraph: 1, offset: 0 }, said);
  const words = edited.paragraphs.slice(1).flatMap((paragraph) => timesOf(base, paragraph));
  assert.deepEqual(
    words.map(({ startTime }) => startTime),
    base.words.slice(1).map(({ startTime }) => startTime),
  );
});

test("text that was not moved leaves the sound where it is", () => {
  const edited = new EditedState(base, true);
  const runsBefore = edited.paragraphs.map(({ from, to }) => [from, to]);
  cut(edited, { paragraph: 0, offset: 0 }, { paragraph: 0, offset: 12 });
  paste(edited, { paragraph: 1, offset: 0 }, "annað mál ");
  assert.deepEqual(
    edited.paragraphs.map(({ from, to }) => [from, to]),
    runsBefore,
  );
});
