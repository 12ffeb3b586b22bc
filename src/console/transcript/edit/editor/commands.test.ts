import assert from "node:assert/strict";
import { test } from "node:test";
import { history, undo, undoDepth } from "prosemirror-history";
import { EditorState } from "prosemirror-state";
import { assertRuns } from "../../../../../test/fixtures/edited-texts.ts";
import {
  at,
  base,
  open,
  run,
  segments,
  speakers,
  textsOf,
} from "../../../../../test/fixtures/editor-states.ts";
import { spokenText } from "../../spoken-text.ts";
import { paragraphsOf as paragraphsOfBase } from "../model/base.ts";
import { balanceParts } from "./balance.ts";
import { HistoryBound } from "./history-bound.ts";
import { deleteSelected, divide, mergeBack, mergeForward } from "./commands.ts";
import { insertLines } from "./insert-text.ts";
import { paragraphAt, paragraphOfWord, positionOf } from "./places.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { inTexts, replaceByText } from "./replace-text.ts";
import { keepRuns } from "./runs.ts";
import { documentOf, paragraphsOf, speakersOf } from "./schema.ts";
import { freeSpeakerId, nameSpeaker, setSpeaker } from "./speaker-commands.ts";
import { SpokenPlaces } from "./spoken-places.ts";

test("a word is divided from its paragraph with its sound, and joined again", () => {
  const state = at(open(), 3, 20);
  const before = paragraphsOf(state.doc);
  const text = before[3]?.text ?? "";
  const divided = run(state, divide(base));
  const [left, right] = paragraphsOf(divided.doc).slice(3, 5);
  assert.equal(`${left?.text}${right?.text}`, text);
  assert.equal(left?.text.split(" ").filter(Boolean).length, (left?.to ?? 0) - (left?.from ?? 0));
  assert.deepEqual([left?.from, left?.to, right?.to], [60, right?.from, 80]);
  assert.equal(divided.selection.head, positionOf(divided.doc, { paragraph: 4, offset: 0 }));
  assert.deepEqual(paragraphsOf(run(divided, mergeBack(base)).doc), before);
});

test("paragraphs that are joined have one space between their words, and the first one's speaker", () => {
  const state = run(at(open(), 1, 0), mergeBack(base));
  const [first, second] = paragraphsOfBase(base);
  const [joined] = paragraphsOf(state.doc);
  const text = `${first?.text} ${second?.text}`;
  assert.deepEqual(joined, { text, speaker: "0", from: 0, to: 40, isSoft: false });
  // An empty paragraph has no speaker of its own.
  const emptied = run(at(open(), 0, 0, [0, 1_000]), deleteSelected);
  const [only] = paragraphsOf(run(at(emptied, 1, 0), mergeBack(base)).doc);
  assert.deepEqual(only, { text: second?.text, speaker: "1", from: 0, to: 40, isSoft: false });
});

test("nothing is joined before the first paragraph and after the last", () => {
  assert.equal(mergeBack(base)(at(open(), 0, 0)), false);
  assert.equal(mergeForward(base)(at(open(), 79, 1_000)), false);
  assert.equal(mergeBack(base)(at(open(), 1, 1)), false);
  assert.equal(mergeForward(base)(at(open(), 0, 0)), false);
});

test("typing over paragraphs of two parts keeps all of their sound", () => {
  const state = at(open(), 30, 5, [34, 3]);
  const { tr, selection } = state;
  replaceByText(tr, inTexts(tr.doc, selection.from, selection.to), "já");
  const after = state.apply(tr);
  after.doc.check();
  const [before, joined] = [paragraphsOf(state.doc), paragraphsOf(after.doc)[30]];
  assert.equal(joined?.text, `${before[30]?.text.slice(0, 5)}já${before[34]?.text.slice(3)}`);
  assert.deepEqual([joined?.from, joined?.to], [600, 700]);
  assertRuns(base, paragraphsOf(after.doc));
});

test("what a browser divides or joins on its own is repaired, in the same step of the history", () => {
  const whole = at(open([keepRuns(() => base)]), 2, 21);
  const { tr } = whole;
  const divided = whole.apply(tr.split(tr.selection.from));
  assertRuns(base, paragraphsOf(divided.doc));
  const [left, right] = paragraphsOf(divided.doc).slice(2, 4);
  assert.ok((left?.to ?? 0) > 40 && right?.from === left?.to, JSON.stringify([left, right]));
  assert.deepEqual(paragraphsOf(run(divided, undo).doc), paragraphsOf(whole.doc));
  const next = paragraphAt(whole.doc, 3);
  const joined = whole.apply(whole.tr.join(next?.pos ?? 0));
  assertRuns(base, paragraphsOf(joined.doc));
  assert.equal(paragraphsOf(joined.doc)[2]?.to, 80);
  const added = whole.apply(
    whole.tr.insert(
      next?.pos ?? 0,
      whole.schema.node("paragraph", null, [whole.schema.text("ný")]),
    ),
  );
  assertRuns(base, paragraphsOf(added.doc));
  assert.deepEqual(paragraphsOf(added.doc)[3], {
    text: "ný",
    speaker: "2",
    from: 60,
    to: 60,
    isSoft: false,
  });
});

test("a speaker is set for one paragraph or for all, and a new one is named, in one step each", () => {
  const state = open();
  const id = freeSpeakerId(state.doc);
  assert.equal(id, "3");
  const added = { fullName: "Björk" };
  const one = run(state, setSpeaker(4, id, { added }));
  assert.deepEqual(speakersOf(one.doc), { ...speakers, "3": added });
  const counts = (of: EditorState) =>
    Object.groupBy(paragraphsOf(of.doc), ({ speaker }) => speaker);
  assert.equal(counts(one)["3"]?.length, 1);
  const all = run(state, setSpeaker(4, id, { added, ofAll: true }));
  assert.equal(counts(all)["3"]?.length, counts(state)["1"]?.length);
  assert.equal(counts(all)["1"], undefined);
  for (const changed of [one, all]) {
    const undone = run(changed, undo);
    assert.deepEqual(paragraphsOf(undone.doc), paragraphsOf(state.doc));
    assert.deepEqual(speakersOf(undone.doc), speakers);
  }
  assert.equal(setSpeaker(4, "1")(state), false);
  assert.equal(setSpeaker(400, "2")(state), false);
  const renamed = run(state, nameSpeaker("0", "Ása"));
  assert.deepEqual(speakersOf(renamed.doc), { "0": { fullName: "Ása" } });
  assert.deepEqual(speakersOf(run(renamed, nameSpeaker("0", "")).doc), {});
});

test("replaced paragraphs outside the history keep the caret and what can be undone", () => {
  let state = at(open(), 10, 4);
  state = state.apply(state.tr.insertText("mitt "));
  const mine = paragraphsOf(state.doc)[10];
  const theirs = { ...(paragraphsOf(state.doc)[2] ?? assert.fail()), text: "þeirra texti" };
  const merged = replaceParagraphs(state, [{ start: 2, end: 3, paragraphs: [theirs] }]);
  state = state.apply(merged.setMeta("addToHistory", false));
  assert.deepEqual(paragraphsOf(state.doc)[2], theirs);
  assert.deepEqual(paragraphsOf(state.doc)[10], mine);
  assert.equal(state.selection.head, positionOf(state.doc, { paragraph: 10, offset: 9 }));
  state = run(state, undo);
  assert.deepEqual(paragraphsOf(state.doc)[2], theirs);
  assert.equal(textsOf(state)[10], paragraphsOfBase(base)[10]?.text);
  assert.throws(
    () => replaceParagraphs(state, [{ start: 90, end: 91, paragraphs: [theirs] }]),
    RangeError,
  );
});

test("places and times lead to each other, also in edited text", () => {
  const places = new SpokenPlaces(base, spokenText(segments));
  let state = at(open(), 5, 0);
  state = state.apply(state.tr.insertText("Inngangur. "));
  const word = base.starts[105] ?? Number.NaN;
  const found = places.at(state.doc, word);
  assert.equal(found?.paragraph.index, 5);
  assert.equal(found?.word.start, word);
  const caret = places.caretAt(state.doc, word);
  const { text } = paragraphsOf(state.doc)[5] ?? assert.fail();
  assert.ok(text.slice(caret.offset).startsWith(base.words[105]?.word ?? ""));
  assert.equal(places.timeAt(state.doc, caret), word);
  assert.equal(places.at(state.doc, -1), undefined);
  assert.equal(paragraphOfWord(state.doc, base.words.length), undefined);
  assert.equal(paragraphOfWord(state.doc, 1_599)?.index, 79);
});

test("parts that are too long are divided, and short ones are joined", () => {
  let state = open();
  assert.equal(balanceParts(state), undefined);
  const { tr } = state;
  const lines = Array.from({ length: 200 }, (_, line) => `lína ${line}`);
  insertLines(tr, inTexts(tr.doc, 10, 10), lines, base);
  // One part grows by whole parts, and another by a few paragraphs.
  state = state.apply(tr);
  state = run(at(state, 40, 2, [240, 3]), deleteSelected);
  const balanced = state.apply(balanceParts(state) ?? state.tr);
  for (const { childCount } of balanced.doc.children) assert.ok(childCount <= 64);
  assert.deepEqual(paragraphsOf(balanced.doc), paragraphsOf(state.doc));
  assert.equal(undoDepth(balanced), undoDepth(state));
  assert.equal(balanceParts(balanced), undefined);
  let divided = open();
  for (let times = 0; times < 40; times++) divided = run(at(divided, 10, 40), divide(base));
  assert.equal(divided.doc.children[0]?.childCount, 72);
  const parts = divided.apply(balanceParts(divided) ?? divided.tr).doc.children;
  assert.deepEqual(
    parts.map(({ childCount }) => childCount),
    [32, 32, 8, 32, 16],
  );
});

test("a history that holds too much text begins again, and the text stays", () => {
  const plugin = history();
  const doc = documentOf(paragraphsOfBase(base), speakers);
  let state = EditorState.create({ doc, plugins: [plugin, keepRuns(() => base)] });
  const bound = new HistoryBound(plugin, { charsMax: 4_000 });
  const cut = (): void => {
    const { tr } = state;
    const { state: next } = state.applyTransaction(
      tr.delete(tr.doc.content.size - 1_500, tr.doc.content.size - 2),
    );
    state = bound.bounded(next, tr);
  };
  cut();
  cut();
  assert.ok(undoDepth(state) > 0);
  const before = paragraphsOf(state.doc);
  state = bound.bounded(state.apply(state.tr.insertText("x", 3)), state.tr.insertText("x", 3));
  assert.ok(undoDepth(state) > 0, "typing holds nothing");
  cut();
  assert.equal(undoDepth(state), 0);
  assert.ok(paragraphsOf(state.doc).length < before.length);
  cut();
  assert.equal(undoDepth(state), 1);
});
