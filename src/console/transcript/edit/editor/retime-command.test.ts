import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { redo, undo, undoDepth } from "prosemirror-history";
import { differentWords } from "../../../../../test/fixtures/different-words.ts";
import { drawnSteps } from "../../../../../test/fixtures/edit-steps.ts";
import { EditedState, modelOfText } from "../../../../../test/fixtures/edited-state.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { spokenText } from "../../spoken-text.ts";
import { baseOf, paragraphsOf } from "../model/base.ts";
import { changesOf, segmentsAfter } from "../model/changes.ts";
import { encodeDraft, readDraft, restoredDraft } from "../model/draft.ts";
import { withPins } from "../model/pins.ts";
import { replacementsBetween } from "../model/replacements.ts";
import type { WordTimes } from "../model/retimings.ts";
import { moveWordsBack, moveWordsForward } from "./commands.ts";
import { timesOf } from "../model/times.ts";
import { replaceParagraphs } from "./replace-paragraphs.ts";
import { restoreParagraph } from "./restore.ts";
import { pinWordTimes, setWordTimes } from "./retime-command.ts";
import { retimingsOf } from "./schema.ts";
import { SpokenPlaces } from "./spoken-places.ts";

const segments = differentWords();
const base = baseOf(segments);
const opened = { base, hasTimes: true };

function timesOfBase(word: number): WordTimes {
  const { startTime = "", endTime = "" } = base.words[word] ?? {};
  return { startTime, endTime };
}

test("times that are set are undone and redone in turn with the text, each as one step", () => {
  const edited = new EditedState(base, true);
  const retimings = () => [...edited.retimings];
  const start = { paragraph: 0, offset: 0 };
  const after = { startTime: "0.500s", endTime: "0.700s" };
  edited.dispatch(edited.selecting(start, start));
  edited.dispatch(edited.state.tr.insertText("Já "));
  assert.ok(edited.run(setWordTimes(1, timesOfBase(1), after)));
  assert.ok(!edited.run(setWordTimes(1, after, after)));
  edited.dispatch(edited.state.tr.insertText("nei "));
  const states = [edited.paragraphs, retimings()];
  assert.deepEqual(retimings(), [[1, after]]);
  edited.run(undo);
  assert.match(edited.paragraphs[0]?.text ?? "", /^Já b/);
  assert.deepEqual(retimings(), [[1, after]]);
  edited.run(undo);
  assert.match(edited.paragraphs[0]?.text ?? "", /^Já b/);
  assert.deepEqual(retimings(), []);
  edited.run(undo);
  assert.deepEqual(changesOf(base, edited.paragraphs, retimingsOf(edited.state.doc)), []);
  for (let at = 0; at < 3; at++) edited.run(redo);
  assert.deepEqual([edited.paragraphs, retimings()], states);
});

test("a paragraph is put back with the times of its words, in one step", () => {
  const edited = new EditedState(base, true);
  const { from = 0, to = 0 } = edited.paragraphs[1] ?? {};
  const after = { startTime: "0.500s", endTime: "900s" };
  for (const word of [from - 1, from, to - 1, to]) {
    edited.run(setWordTimes(word, timesOfBase(word), after));
  }
  const start = { paragraph: 1, offset: 0 };
  edited.dispatch(edited.selecting(start, start));
  edited.dispatch(edited.state.tr.insertText("Já "));
  const before = [edited.paragraphs, edited.retimings];
  assert.ok(edited.run(restoreParagraph(opened, base, 1)));
  assert.deepEqual(edited.paragraphs, paragraphsOf(base));
  assert.deepEqual([...edited.retimings.keys()], [from - 1, to]);
  assert.ok(!edited.run(restoreParagraph(opened, base, 1)));
  edited.run(undo);
  assert.deepEqual([edited.paragraphs, edited.retimings], before);
});

test("after reopening, a paragraph is put back to the words and times that were recognized", () => {
  const [one, ...others] = paragraphsOf(base);
  assert.ok(one);
  const said = one.text.split(/(?<=\s)/);
  const text = [said[0], "annað ", ...said.slice(3)].join("");
  const { startTime = "", endTime = "" } = base.words[0] ?? {};
  const nudged = { startTime, endTime: `${(Number.parseFloat(endTime) - 0.1).toFixed(3)}s` };
  const changes = changesOf(base, [{ ...one, text }, ...others], new Map([[0, nudged]]));
  const reopened = baseOf(segmentsAfter(base, changes));
  const edited = new EditedState(reopened, true);
  const before = [edited.paragraphs, edited.retimings];
  assert.equal(edited.paragraphs[0]?.text, text);
  assert.ok(edited.run(restoreParagraph(opened, reopened, 0)));
  assert.equal(edited.paragraphs[0]?.text, one.text);
  assert.deepEqual([...edited.retimings], [[0, { startTime, endTime }]]);
  const saved = changesOf(reopened, edited.paragraphs, edited.retimings);
  const [segment] = segmentsAfter(reopened, saved);
  assert.deepEqual(segment?.words?.[0], base.words[0]);
  assert.deepEqual(
    segment?.words?.map(({ word }) => word),
    base.segments[0]?.words?.map(({ word }) => word),
  );
  edited.run(undo);
  assert.deepEqual([edited.paragraphs, edited.retimings], before);
  // Times that were aligned since are better than those of the recognizer.
  assert.ok(edited.run(restoreParagraph({ ...opened, hasTimes: false }, reopened, 0)));
  assert.deepEqual([edited.paragraphs[0]?.text, edited.retimings.size], [one.text, 0]);
});

test("the word that is played is found by the times that were set", () => {
  const edited = new EditedState(base, true);
  const places = new SpokenPlaces(base, spokenText(segments));
  const wordAt = (seconds: number) => places.at(edited.state.doc, seconds)?.word.text.trim();
  const firstOfNext = edited.paragraphs[1]?.from ?? 0;
  const said = (word: number) => base.words[word]?.word?.trim();
  const own = base.starts[firstOfNext] ?? 0;
  assert.deepEqual([wordAt(own - 0.05), wordAt(own)], [said(firstOfNext - 1), said(firstOfNext)]);
  const setStart = (startTime: string): void => {
    const before = retimingsOf(edited.state.doc).get(firstOfNext) ?? timesOfBase(firstOfNext);
    edited.run(setWordTimes(firstOfNext, before, { ...before, startTime }));
  };
  setStart(`${(own - 0.1).toFixed(3)}s`);
  assert.deepEqual([wordAt(own - 0.05), wordAt(own)], [said(firstOfNext), said(firstOfNext)]);
  setStart(`${(own + 0.1).toFixed(3)}s`);
  assert.deepEqual(
    [wordAt(own + 0.05), wordAt(own + 0.15)],
    [said(firstOfNext - 1), said(firstOfNext)],
  );
});

/** A word that no command of the property types. */
const said = "ŵŵŵ";

test("a typed word keeps the times that were set through edits around it, undo, redo and a draft", () => {
  let [seen, exact] = [0, 0];
  const kept = drawnSteps(12, { without: ["move text", "replace some", "set a time"] });
  fc.assert(
    fc.property(kept, fc.nat(40), (commands, paragraph) => {
      const edited = new EditedState(base, true);
      const text = edited.paragraphs[paragraph]?.text ?? "";
      const offset = text.indexOf(" ", text.length / 2) + 1;
      edited.dispatch(edited.selecting({ paragraph, offset }, { paragraph, offset }));
      edited.dispatch(edited.state.tr.insertText(`${said} `));
      const word = wordIn(edited);
      assert.ok(word);
      const times = momentsAfter(word.start);
      const place = { paragraph, from: offset, to: offset + said.length };
      assert.ok(edited.run(pinWordTimes(place, times)));
      assert.ok(!edited.run(pinWordTimes(place, times)));
      const before = edited.paragraphs;
      edited.run(undo);
      assert.deepEqual(
        [wordIn(edited)?.isPinned, wordIn(edited)?.startTime],
        [false, word.startTime],
      );
      edited.run(redo);
      assert.deepEqual(edited.paragraphs, before);
      edited.forgetHistory();
      const model = modelOfText(edited.paragraphs);
      const check = (): void => {
        const found = wordIn(edited);
        if (!found) return;
        assert.ok(found.isPinned && !found.isEstimated);
        seen += 1;
        if (found.startTime === times.startTime && found.endTime === times.endTime) exact += 1;
        const { paragraphs, retimings } = edited;
        const draft = readDraft(encodeDraft({ base, version: "1", paragraphs, retimings }));
        assert.deepEqual(restoredDraft(draft, base).paragraphs, paragraphs);
      };
      check();
      fc.modelRun(() => ({ model, real: edited }), commands);
      check();
      const [last, steps] = [edited.paragraphs, undoDepth(edited.state)];
      for (let at = 0; at < steps; at += 1) edited.run(undo);
      assert.deepEqual(edited.paragraphs, before);
      for (let at = 0; at < steps; at += 1) edited.run(redo);
      assert.deepEqual(edited.paragraphs, last);
    }),
    { numRuns: runs(300) },
  );
  assert.ok(seen > runs(300) * 1.5, `the word was seen ${seen} times`);
  // Where it stands among other words of the opened text now, it cannot have them.
  assert.ok(exact >= seen * 0.98, `${exact} of ${seen}`);
});

test("a pin goes with words that are moved to a neighbor, and goes away with what was typed", () => {
  const edited = new EditedState(base, true);
  const start = { paragraph: 1, offset: 0 };
  edited.dispatch(edited.selecting(start, start));
  edited.dispatch(edited.state.tr.insertText(`${said} `));
  const times = { startTime: "1.500s", endTime: "1.600s" };
  const before = edited.paragraphs[1]?.text ?? "";
  assert.ok(edited.run(pinWordTimes({ paragraph: 1, from: 0, to: said.length }, times)));
  const places = () =>
    edited.paragraphs.flatMap(({ pins = [], text }, at) =>
      pins.map((pin) => [at, text.slice(pin.from, pin.to), pin.startTime, pin.endTime]),
    );
  const pinAt = (paragraph: number) => [[paragraph, said, "1.500s", "1.600s"]];
  assert.deepEqual(places(), pinAt(1));
  const end = { paragraph: 1, offset: said.length + 1 };
  assert.ok(edited.run(moveWordsBack(base), end));
  assert.deepEqual(places(), pinAt(0));
  const text = edited.paragraphs[0]?.text ?? "";
  assert.ok(edited.run(moveWordsForward(base), { paragraph: 0, offset: text.indexOf(said) }));
  assert.deepEqual([places(), edited.paragraphs[1]?.text], [pinAt(1), before]);
  assert.ok(edited.run(restoreParagraph(opened, base, 1)));
  assert.deepEqual(places(), []);
  edited.run(undo);
  assert.deepEqual(places(), pinAt(1));
  // The same text without the pin, as when a version has the word with these times.
  const plain = edited.paragraphs.map((one) => withPins(one, []));
  edited.dispatch(replaceParagraphs(edited.state, replacementsBetween(edited.paragraphs, plain)));
  assert.deepEqual([places(), edited.paragraphs], [[], plain]);
  // Also one whose text is that of the version.
  assert.ok(edited.run(pinWordTimes({ paragraph: 2, from: 0, to: 3 }, times)));
  assert.ok(edited.run(restoreParagraph(opened, base, 2)));
  assert.deepEqual(places(), []);
});

/** Returns the word, if the text has it in one piece. */
function wordIn(edited: EditedState) {
  return edited.paragraphs
    .filter(({ text }) => text.includes(said))
    .flatMap((paragraph) => timesOf(base, paragraph, edited.retimings))
    .find(({ text }) => text.includes(said));
}

function momentsAfter(start: number): WordTimes {
  const [startTime, endTime] = [0.01, 0.02].map((by) => `${(start + by).toFixed(3)}s`);
  return { startTime: startTime ?? "", endTime: endTime ?? "" };
}
