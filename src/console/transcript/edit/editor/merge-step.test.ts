import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redo, undo, undoDepth } from "prosemirror-history";
import { differentWords } from "../../../../../test/fixtures/different-words.ts";
import { EditedState } from "../../../../../test/fixtures/edited-state.ts";
import { assertRuns, drawnCommand, edited } from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { joinedText } from "../merging/joined-text.ts";
import { baseOf, type EditedParagraph, paragraphsOf } from "../model/base.ts";
import { changesOf, segmentsAfter } from "../model/changes.ts";
import { replacementsBetween } from "../model/replacements.ts";
import { mergeStep } from "./merge-step.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { numberingOf } from "./schema.ts";

const segments = differentWords();
const base = baseOf(segments);
const commands = fc.array(drawnCommand, { maxLength: 5 });

/** The words of a text, without speakers and paragraphs. */
function wordsOf(paragraphs: readonly EditedParagraph[]): string {
  return paragraphs.map(({ text }) => text.replaceAll(/\s+/g, "")).join("");
}

/** Whether a text has all letters of another, in order. */
function hasLetters(text: string, others: string): boolean {
  let at = 0;
  for (let index = 0; index < text.length; index += 1) if (text[index] === others[at]) at += 1;
  return at === others.length;
}

test("a version of others joins in one step, and undo takes back only one's own", () => {
  let [joins, undone] = [0, 0];
  fc.assert(
    fc.property(commands, commands, (own, their) => {
      const state = new EditedState(base, true);
      let before: readonly EditedParagraph[] = state.paragraphs;
      for (const command of own) {
        const { paragraphs } = command({ base, paragraphs: [...before], retimings: new Map() });
        state.dispatch(replaceParagraphs(state.state, replacementsBetween(before, paragraphs)));
        before = state.paragraphs;
      }
      const other = edited(segments, their);
      const changes = changesOf(base, other.paragraphs, other.retimings);
      const theirs = baseOf(structuredClone([...segmentsAfter(base, changes)]));
      const mine = { base, paragraphs: before, retimings: new Map(), saved: undefined };
      const { paragraphs, edges, replacements, clashes } = joinedText(mine, theirs);
      if (clashes.length > 0 || theirs.words.length === 0) return;
      joins += 1;
      const steps = undoDepth(state.state);
      numberingOf(state.state.doc).move(edges);
      state.join(theirs);
      state.dispatch(mergeStep(state.state, replacements));
      assert.deepEqual(state.paragraphs, paragraphs);
      assert.equal(undoDepth(state.state), steps);
      while (undoDepth(state.state) > 0) {
        state.run(undo);
        assertRuns(theirs, state.paragraphs);
      }
      const [left, others] = [wordsOf(state.paragraphs), wordsOf(paragraphsOf(theirs))];
      // A paragraph that was added where others have joined two stays.
      if (left === others) undone += 1;
      assert.ok(hasLetters(left, others), `${left}\ndoes not have\n${others}`);
      for (let at = 0; at < steps; at += 1) state.run(redo);
      assert.equal(wordsOf(state.paragraphs), wordsOf(paragraphs));
      assertRuns(theirs, state.paragraphs);
    }),
    { numRuns: runs(400) },
  );
  assert.ok(joins > 20, `${joins} texts were joined`);
  assert.ok(undone >= joins * 0.9, `${undone} of ${joins} were undone to the text of others`);
});
