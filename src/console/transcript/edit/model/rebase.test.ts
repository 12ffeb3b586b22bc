import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  assertAccepted,
  assertRuns,
  drawnCommand,
  drawnSpokenEdits,
  type Edited,
  withMove,
} from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { findProblems } from "./problems.ts";
import { rebased } from "./rebase.ts";
import { retimed } from "./retime.ts";
import { timesOf } from "./times.ts";
import { replacementsBetween } from "./replacements.ts";

function savedOf({ base, paragraphs, retimings }: Edited) {
  const segments = segmentsAfter(base, changesOf(base, paragraphs, retimings));
  return baseOf(JSON.parse(JSON.stringify(segments)));
}

test("a saved text has no changes on the version that results", () => {
  fc.assert(
    fc.property(drawnSpokenEdits, (edited) => {
      const saved = savedOf(edited);
      const moved = rebased({ ...edited, saved, savedRetimings: edited.retimings });
      assert.equal(moved.retimings.size, 0);
      assertRuns(saved, moved.paragraphs);
      assert.deepEqual(changesOf(saved, moved.paragraphs, moved.retimings), []);
    }),
    { numRuns: runs(400) },
  );
});

test("times that were set for words and are cut off by the next one are saved once", () => {
  const times = { startTime: "2.000000001s", endTime: "2.000000002s" };
  const none = { startTime: "2.000000001s", endTime: "2.000000001s" };
  const words = ["og ", "eittmenn "].map((word, at) => ({ ...(at === 0 ? none : times), word }));
  const base = baseOf([{ ...times, words, speakerId: "" }]);
  const pins = [
    { from: 3, to: 5, ...times },
    { from: 6, to: 12, ...times },
  ];
  const paragraphs = [{ text: "og ei ttmenn ", speaker: "", from: 0, to: 2, isSoft: false, pins }];
  const edited = { base, paragraphs, retimings: new Map() };
  const saved = savedOf(edited);
  assert.deepEqual(
    saved.words.map(({ endTime }) => endTime),
    [none.endTime, none.endTime, times.endTime],
  );
  const moved = rebased({ ...edited, saved });
  assert.deepEqual(changesOf(saved, moved.paragraphs), []);
});

test("all words of a saved text can be retimed, and opened again they have these times", () => {
  fc.assert(
    fc.property(drawnSpokenEdits, fc.nat(), (edited, draw) => {
      const saved = savedOf(edited);
      const { paragraphs, retimings } = rebased({
        ...edited,
        saved,
        savedRetimings: edited.retimings,
      });
      const text = {
        base: saved,
        paragraphs,
        wordsOf: (one: EditedParagraph) => timesOf(saved, one, retimings),
      };
      const places = paragraphs.flatMap((one, paragraph) =>
        text
          .wordsOf(one)
          .flatMap(({ offset, text, word }) =>
            text.trim() === "" ? [] : [{ paragraph, offset, word }],
          ),
      );
      for (const { word } of places) assert.ok(word !== undefined, "the word is not in the base");
      const place = places[draw % Math.max(1, places.length)];
      if (!place) return;
      const move = { edge: "end", by: -0.02 } as const;
      const found = retimed(text, place, { move });
      assert.ok(found.kind === "set" && place.word !== undefined);
      const now = { base: saved, paragraphs: [...paragraphs], retimings };
      const { startTime, endTime } = savedOf(withMove(now, place, move)).words[place.word] ?? {};
      assert.deepEqual({ startTime, endTime }, found.after);
    }),
    { numRuns: runs(400) },
  );
});

test("text that was edited while it was saved stays, and can be saved again", () => {
  const commands = fc.array(drawnCommand, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(drawnSpokenEdits, commands, (edited, more) => {
      const saved = savedOf(edited);
      const now = more.reduce((before, command) => command(before), edited);
      const moved = rebased({ ...now, saved, savedRetimings: edited.retimings });
      assertRuns(saved, moved.paragraphs);
      assert.deepEqual(
        moved.paragraphs.map(({ text }) => text),
        now.paragraphs.map(({ text }) => text),
      );
      const changes = changesOf(saved, moved.paragraphs, moved.retimings);
      const before = findProblems(
        edited.base,
        edited.paragraphs,
        changesOf(edited.base, edited.paragraphs),
      );
      if (before.length + findProblems(saved, moved.paragraphs, changes).length > 0) return;
      assertAccepted(segmentsAfter(saved, changes));
    }),
    { numRuns: runs(400) },
  );
});

test("replacementsBetween() changes one list of paragraphs to another", () => {
  const paragraph = fc.record(
    {
      text: fc.constantFrom("a", "b", "c", "d", "e"),
      speaker: fc.constantFrom("", "1"),
      from: fc.nat(2),
      to: fc.nat(2),
      isSoft: fc.boolean(),
    },
    { noNullPrototype: true },
  );
  const list = fc.array(paragraph, { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(list, list, (before, after) => {
      const replacements = replacementsBetween(before, after);
      let changed: EditedParagraph[] = before;
      let end = 0;
      for (const one of replacements) {
        assert.ok(one.start >= end && one.end > one.start && one.paragraphs.length > 0);
        end = one.end;
      }
      for (const one of replacements.toReversed()) {
        changed = changed.toSpliced(one.start, one.end - one.start, ...one.paragraphs);
      }
      assert.deepEqual(changed, after);
      if (before.length > 1) assert.deepEqual(replacementsBetween(before, before), []);
    }),
    { numRuns: runs(1000) },
  );
});
