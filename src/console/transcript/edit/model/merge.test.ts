import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  assertAccepted,
  assertRuns,
  drawnCommand,
  drawnEdits,
  drawnSegments,
  drawnSpokenEdits,
  edited,
  type Edited,
} from "../../../../../test/fixtures/edited-texts.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { baseOf, paragraphsOf, type Base, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { dividedAt, joined } from "./divide.ts";
import { groupsOf, runOf, textOfGroup } from "./edited-segments.ts";
import { merge } from "./merge.ts";
import { findProblems } from "./problems.ts";

/** Returns the version that results when an edited text is saved. */
function saved({ base, paragraphs, retimings }: Edited): Base {
  const segments = segmentsAfter(base, changesOf(base, paragraphs, retimings));
  return baseOf(JSON.parse(JSON.stringify(segments)));
}

/** Describes the segments of a text: speaker, text and run. */
function segmentsOf(base: Base, paragraphs: readonly EditedParagraph[]) {
  return groupsOf(paragraphs).map((group) => {
    const { from, to } = runOf(group);
    return [group[0]?.speaker, textOfGroup(base, group), from, to];
  });
}

const many = { numRuns: runs(400) };

test("merging with an unchanged version returns mine", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      const merged = merge({ base, paragraphs, retimings, theirs: base });
      assert.deepEqual(merged.clashes, []);
      assert.deepEqual(segmentsOf(base, merged.paragraphs), segmentsOf(base, paragraphs));
      const changes = changesOf(base, merged.paragraphs, merged.retimings);
      assert.deepEqual(changes, changesOf(base, paragraphs, retimings));
    }),
    many,
  );
});

test("merging an unedited text returns theirs", () => {
  fc.assert(
    fc.property(drawnEdits, (mine) => {
      const { base } = mine;
      const theirs = saved(mine);
      const merged = merge({ base, paragraphs: paragraphsOf(base), theirs });
      assert.deepEqual(merged.clashes, []);
      assert.deepEqual(merged.paragraphs, paragraphsOf(theirs));
    }),
    many,
  );
});

test("merging a text with the version that results from it returns that version", () => {
  fc.assert(
    fc.property(drawnSpokenEdits, (mine) => {
      const { base, paragraphs } = mine;
      const theirs = saved(mine);
      const merged = merge({ base, paragraphs, theirs });
      assert.deepEqual(merged.clashes, []);
      assertRuns(theirs, merged.paragraphs);
      assert.deepEqual(changesOf(theirs, merged.paragraphs), []);
    }),
    many,
  );
});

test("the service accepts merged texts", () => {
  const commands = fc.array(drawnCommand, { maxLength: 6 });
  fc.assert(
    fc.property(drawnSegments, commands, commands, (segments, own, other) => {
      const [mine, others] = [edited(segments, own), edited(segments, other)];
      const theirs = saved(others);
      const othersChanges = changesOf(others.base, others.paragraphs, others.retimings);
      fc.pre(findProblems(others.base, others.paragraphs, othersChanges).length === 0);
      const merged = merge({ ...mine, theirs });
      assertRuns(theirs, merged.paragraphs);
      const changes = changesOf(theirs, merged.paragraphs, merged.retimings);
      if (findProblems(theirs, merged.paragraphs, changes).length > 0) return;
      assertAccepted(segmentsAfter(theirs, changes));
      for (const clash of merged.clashes) {
        if (clash.kind === "speaker") continue;
        const { from, to, mine: texts } = clash;
        const said = merged.paragraphs
          .slice(from.paragraph, to.paragraph + 1)
          .map(({ text }, at) => {
            const end = at === to.paragraph - from.paragraph ? to.offset : text.length;
            return text.slice(at === 0 ? from.offset : 0, end);
          });
        const plain = (parts: readonly string[]) => parts.join("").replaceAll(/\s+/g, "");
        assert.equal(plain(said), plain(texts));
      }
    }),
    many,
  );
});

test("changes of different segments are merged without clashes, in either order", () => {
  const commands = fc.array(drawnCommand, { maxLength: 5 });
  const two = fc.tuple(drawnSegments, drawnSegments);
  fc.assert(
    fc.property(two, commands, commands, ([one, other], own, others) => {
      // An anchor between the two halves, which no one edits.
      const last = one.at(-1);
      const time = { startTime: last?.startTime ?? "0s", endTime: last?.startTime ?? "0s" };
      const middle = { ...time, speakerId: "9", words: [{ ...time, word: "MIDDLE" }] };
      const shifted = other.map((segment) => ({
        ...segment,
        startTime: shift(segment.startTime),
        endTime: shift(segment.endTime),
        words: (segment.words ?? []).map((word) => ({
          ...word,
          startTime: shift(word.startTime),
          endTime: shift(word.endTime),
        })),
      }));
      const segments = [...one, middle, ...shifted];
      const base = baseOf(segments);
      const edge = baseOf([...one, middle]).words.length;
      const halves = [
        paragraphsOf(base).filter(({ to }) => to < edge),
        paragraphsOf(base).filter(({ from, to }) => from < edge && to >= edge),
        paragraphsOf(base).filter(({ from }) => from >= edge),
      ];
      const [head = [], between = [], tail = []] = halves;
      const edit = (start: EditedParagraph[], list: typeof own) =>
        list.reduce((before, command) => command(before), unedited(base, start)).paragraphs;
      fc.pre(head.length > 0 && tail.length > 0);
      const mine = {
        base,
        retimings: new Map(),
        paragraphs: [...edit(head, own), ...between, ...tail],
      };
      const theirs = {
        base,
        retimings: new Map(),
        paragraphs: [...head, ...between, ...edit(tail, others)],
      };
      fc.pre(mine.paragraphs[0]?.from === 0);
      const [forth, back] = [
        merge({ ...mine, theirs: saved(theirs) }),
        merge({ ...theirs, theirs: saved(mine) }),
      ];
      assert.deepEqual([forth.clashes, back.clashes], [[], []]);
      const texts = (base: Base, paragraphs: readonly EditedParagraph[]) =>
        segmentsAfter(base, changesOf(base, paragraphs)).flatMap(({ speakerId, words = [] }) => {
          const text = words.map(({ word = "" }) => word).join("");
          return text.trim() === "" ? [] : [`${speakerId} ${text.trim()}`];
        });
      assert.deepEqual(texts(saved(theirs), forth.paragraphs), texts(saved(mine), back.paragraphs));
    }),
    many,
  );
});

function unedited(base: Base, paragraphs: EditedParagraph[]): Edited {
  return { base, paragraphs, retimings: new Map() };
}

function shift(time = "0s"): string {
  const [seconds = "0", nanos] = time.slice(0, -1).split(".");
  return `${Number(seconds) + 1000}${nanos === undefined ? "" : `.${nanos}`}s`;
}

const plain = baseOf(
  ["Góðan dag og velkomin. ", "Í dag er gott veður hér. ", "Takk fyrir mig."].map(
    (said, index) => ({
      startTime: `${index * 10}s`,
      endTime: `${index * 10 + 10}s`,
      speakerId: `${index % 2}`,
      words: said.split(/(?<=\s)/).map((word, at) => ({
        startTime: `${index * 10 + at}s`,
        endTime: `${index * 10 + at}.900s`,
        word,
      })),
    }),
  ),
);

type Edit = (paragraphs: EditedParagraph[]) => EditedParagraph[];

const replaced =
  (index: number, from: string, to: string): Edit =>
  (paragraphs) =>
    paragraphs.map((one, at) =>
      at === index ? { ...one, text: one.text.replace(from, to) } : one,
    );
const divided =
  (index: number, offset: number): Edit =>
  (paragraphs) =>
    paragraphs.flatMap((one, at) => (at === index ? dividedAt(plain, one, offset) : [one]));
const joinedNext =
  (index: number): Edit =>
  (paragraphs) =>
    paragraphs.flatMap((one, at) => {
      const next = paragraphs[at + 1];
      if (at === index && next) return [joined(one, next)];
      return at === index + 1 ? [] : [one];
    });
const spoken =
  (index: number, speaker: string): Edit =>
  (paragraphs) =>
    paragraphs.map((one, at) => (at === index ? { ...one, speaker } : one));

test("merge() takes the changes of both sides, and reports those that contradict each other", () => {
  const unchanged = ["0 Góðan dag og velkomin.", "1 Í dag er gott veður hér.", "0 Takk fyrir mig."];
  const rows: [name: string, mine: Edit[], theirs: Edit[], text: string[], clashes: string[]][] = [
    ["nothing", [], [], unchanged, []],
    [
      "neighboring words",
      [replaced(1, "gott", "vont")],
      [replaced(1, "veður", "skap")],
      unchanged.with(1, "1 Í dag er vont skap hér."),
      [],
    ],
    [
      "the same change",
      [replaced(1, "gott", "vont")],
      [replaced(1, "gott", "vont")],
      unchanged.with(1, "1 Í dag er vont veður hér."),
      [],
    ],
    [
      "different words for one",
      [replaced(1, "gott", "vont")],
      [replaced(1, "gott", "fínt")],
      unchanged.with(1, "1 Í dag er vont veður hér."),
      ["vont | fínt"],
    ],
    [
      "different words at one place",
      [replaced(0, "og ", "og sæl og ")],
      [replaced(0, "og ", "og blessuð og ")],
      unchanged.with(0, "0 Góðan dag og sæl og velkomin."),
      ["sæl og | blessuð og"],
    ],
    [
      "a removed word that the other side has changed",
      [replaced(1, "gott ", "")],
      [replaced(1, "gott", "fínt")],
      unchanged.with(1, "1 Í dag er veður hér."),
      [" | fínt"],
    ],
    [
      "a word, and a division of the paragraph",
      [replaced(1, "hér", "þar")],
      [divided(1, 6)],
      [unchanged[0] ?? "", "1 Í dag", "1 er gott veður þar.", unchanged[2] ?? ""],
      [],
    ],
    [
      "a word, and its paragraph's speaker",
      [replaced(1, "Í", "Á")],
      [spoken(1, "7")],
      unchanged.with(1, "7 Á dag er gott veður hér."),
      [],
    ],
    [
      "a paragraph typed again, and its speaker",
      [replaced(1, "Í dag er gott veður hér. ", "Ekkert.")],
      [spoken(1, "7")],
      unchanged.with(1, "7 Ekkert."),
      [],
    ],
    [
      "paragraphs that were joined, and a word",
      [joinedNext(0)],
      [replaced(1, "Í", "Á")],
      ["0 Góðan dag og velkomin. Á dag er gott veður hér.", unchanged[2] ?? ""],
      [],
    ],
    [
      "the first word, and a join of the paragraph",
      [replaced(1, "Í", "Á")],
      [joinedNext(0)],
      ["0 Góðan dag og velkomin. Á dag er gott veður hér.", unchanged[2] ?? ""],
      [],
    ],
    [
      "two speakers",
      [spoken(1, "5")],
      [spoken(1, "6")],
      unchanged.with(1, "5 Í dag er gott veður hér."),
      ["5 | 6"],
    ],
    [
      "the end of the text",
      [replaced(2, "mig.", "mig. Bless.")],
      [replaced(2, "Takk", "Þakka")],
      unchanged.with(2, "0 Þakka fyrir mig. Bless."),
      [],
    ],
  ];
  for (const [name, mine, others, text, clashes] of rows) {
    const apply = (edits: Edit[]) => edits.reduce((all, edit) => edit(all), paragraphsOf(plain));
    const theirs = saved({ base: plain, paragraphs: apply(others), retimings: new Map() });
    const merged = merge({ base: plain, paragraphs: apply(mine), theirs });
    assert.deepEqual(
      merged.paragraphs.map((one) => `${one.speaker} ${one.text.trim()}`),
      text,
      name,
    );
    assert.deepEqual(
      merged.clashes.map(({ mine: own, theirs: other }) =>
        [own, other].map((side) => [side].flat().join("¶").trim()).join(" | "),
      ),
      clashes,
      name,
    );
  }
});
