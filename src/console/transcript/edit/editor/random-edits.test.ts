import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redo, undo, undoDepth } from "prosemirror-history";
import type { EditorState } from "prosemirror-state";
import { assertRuns } from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { at, base, open, run, speakers } from "../../../../../test/fixtures/editor-states.ts";
import type { EditedParagraph } from "../model/base.ts";
import { balanceParts } from "./balance.ts";
import { changeBetween } from "./changes.ts";
import {
  deleteSelected,
  divide,
  mergeBack,
  mergeForward,
  moveWordsBack,
  moveWordsForward,
  selectAll,
} from "./commands.ts";
import { insertLines } from "./insert-text.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { inTexts } from "./replace-text.ts";
import { paragraphsOf, speakersOf } from "./schema.ts";
import { freeSpeakerId, nameSpeaker, setSpeaker } from "./speaker-commands.ts";

const kinds = [
  "type",
  "divide",
  "back",
  "forward",
  "delete",
  "words back",
  "words forward",
  "paste",
  "speaker",
  "speaker of all",
  "name",
  "replace",
  "all",
  "balance",
  "undo",
  "redo",
] as const;

interface Edit {
  readonly kind: (typeof kinds)[number];
  readonly from: number;
  readonly to: number;
  readonly offset: number;
  readonly text: string;
}

const edits = fc.array(
  fc.record<Edit>({
    kind: fc.constantFrom(...kinds),
    from: fc.nat(2_000),
    to: fc.nat(2_000),
    offset: fc.nat(120),
    text: fc.constantFrom("x", "", "já ", " nei. ", "æðey"),
  }),
  { maxLength: 25 },
);

function applied(state: EditorState, { kind, from, to, offset, text }: Edit): EditorState {
  const count = paragraphsOf(state.doc).length;
  const [paragraph, other] = [from % count, (from + (to % 5)) % count];
  const placed = at(state, paragraph, kind === "back" ? 0 : kind === "forward" ? 1_000 : offset);
  const selected = at(state, paragraph, offset, [other, to % 90]);
  const ways: Readonly<Record<Edit["kind"], () => EditorState>> = {
    type: () => placed.apply(placed.tr.insertText(text)),
    divide: () => run(to % 3 === 0 ? selected : placed, divide(base)),
    back: () => run(placed, mergeBack(base)),
    forward: () => run(placed, mergeForward(base)),
    delete: () => run(selected, deleteSelected),
    "words back": () => run(placed, moveWordsBack(base)),
    "words forward": () => run(placed, moveWordsForward(base)),
    paste: () => {
      const { tr, selection } = selected;
      const lines = Array.from({ length: 1 + (to % 80) }, (_, line) => `${text} ${line}`);
      insertLines(tr, inTexts(tr.doc, selection.from, selection.to), lines, base);
      return selected.apply(tr);
    },
    speaker: () => run(state, setSpeaker(paragraph, `${to % 4}`)),
    "speaker of all": () => {
      const id = freeSpeakerId(state.doc);
      return run(state, setSpeaker(paragraph, id, { ofAll: true, added: { fullName: text } }));
    },
    name: () => run(state, nameSpeaker(`${to % 3}`, text)),
    replace: () => state.apply(replaceParagraphs(state, [replacement(state, paragraph, to)])),
    all: () => run(run(state, selectAll), deleteSelected),
    balance: () => state.apply(balanceParts(state) ?? state.tr),
    undo: () => run(state, undo),
    redo: () => run(state, redo),
  };
  return ways[kind]();
}

function replacement(state: EditorState, start: number, seed: number) {
  const old = paragraphsOf(state.doc).slice(start, start + 1 + (seed % 40));
  const [from, to] = [old[0]?.from ?? 0, old.at(-1)?.to ?? 0];
  const count = 1 + (seed % 3) * 30;
  const paragraphs = Array.from({ length: count }, (_, index): EditedParagraph => {
    return {
      text: `nýtt ${index}`,
      speaker: "1",
      from: index === 0 ? from : to,
      to,
      isSoft: false,
    };
  });
  return { start, end: start + old.length, paragraphs };
}

test("any edits keep the runs in order, and undoing all of them restores the text", () => {
  fc.assert(
    fc.property(edits, (all) => {
      const first = open();
      let state = first;
      for (const edit of all) {
        const before = state;
        state = applied(state, edit);
        state.doc.check();
        assertRuns(base, paragraphsOf(state.doc));
        const { start, removed, inserted } = changeBetween(before.doc, state.doc);
        assert.deepEqual(
          paragraphsOf(before.doc).toSpliced(
            start,
            removed,
            ...paragraphsOf(state.doc).slice(start, start + inserted),
          ),
          paragraphsOf(state.doc),
        );
      }
      const last = paragraphsOf(state.doc);
      let steps = 0;
      for (; undoDepth(state) > 0; steps++) state = run(state, undo);
      assert.deepEqual(paragraphsOf(state.doc), paragraphsOf(first.doc));
      assert.deepEqual(speakersOf(state.doc), speakers);
      for (; steps > 0; steps--) state = run(state, redo);
      assert.deepEqual(paragraphsOf(state.doc), last);
    }),
    { numRuns: runs(1_200) },
  );
});
