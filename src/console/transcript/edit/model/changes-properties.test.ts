import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  assertAccepted,
  assertRuns,
  drawnEdits,
  drawnSegments,
} from "../../../../../test/fixtures/edited-texts.ts";
import type { SegmentJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { type Base, baseOf, paragraphsOf, textOfRun, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter } from "./changes.ts";
import { dividedAt, joined } from "./divide.ts";
import { groupsOf, runOf, textOfGroup } from "./edited-segments.ts";
import { findProblems } from "./problems.ts";
import type { Retimings } from "./retimings.ts";
import { timesOf } from "./times.ts";

const many = { numRuns: runs(400) };

test("a text that was not edited has no changes, and its segments are the objects that were received", () => {
  fc.assert(
    fc.property(drawnSegments, (segments) => {
      assertAccepted(segments);
      const base = baseOf(segments);
      const changes = changesOf(base, paragraphsOf(base));
      assert.deepEqual(changes, []);
      assert.equal(segmentsAfter(base, changes), segments);
    }),
    many,
  );
});

test("the service accepts every edited text, and its words joined are the text", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      assertRuns(base, paragraphs);
      const changes = changesOf(base, paragraphs, retimings);
      const segments = segmentsAfter(base, changes);
      const problems = findProblems(base, paragraphs, changes, retimings);
      if (problems.length === 0) assertAccepted(segments);
      const texts = segments.flatMap(({ words = [] }) => {
        const text = words.map(({ word = "" }) => word).join("");
        return text.trim() === "" ? [] : [text];
      });
      const wanted = groupsOf(paragraphs).map((group) => savedText(base, group, retimings));
      assert.deepEqual(
        texts,
        wanted.filter((text) => text.trim() !== ""),
      );
    }),
    many,
  );
});

/**
 * Returns the text of a segment as it is saved. A segment in which only spaces at the end were
 * edited stays as it was. In any other, a word that ended a segment and ends one again has or lacks
 * its space as before; all other words have the spaces of the text.
 */
function savedText(base: Base, group: readonly EditedParagraph[], retimings: Retimings): string {
  const text = textOfGroup(base, group);
  if (isSameSegment(base, group, retimings)) {
    const before = textOfRun(base, runOf(group).from, runOf(group).to);
    if (before.trimEnd() === text.trimEnd()) return before;
  }
  const last = group.flatMap((paragraph) => timesOf(base, paragraph, retimings)).at(-1);
  const word = last?.isUnchanged === true ? last.word : undefined;
  if (!last || word === undefined) return text;
  const wasLast = base.firsts.includes(word + 1);
  const own = base.words[word]?.word ?? "";
  return wasLast ? text.slice(0, text.length - spaceAfter(last.text)) + space(own) : text;
}

/** Whether a group has the words of one segment of the base, with its speaker and its times. */
function isSameSegment(
  base: Base,
  group: readonly EditedParagraph[],
  retimings: Retimings,
): boolean {
  const { from, to } = runOf(group);
  const index = base.firsts.findLastIndex(
    (first, at) => first === from && base.firsts[at + 1] === to,
  );
  const isRetimed = retimings.keys().some((word) => from <= word && word < to);
  const isPinned = group.some(({ pins }) => pins !== undefined);
  const speaker = base.segments[index]?.speakerId;
  return from < to && speaker === group[0]?.speaker && !isRetimed && !isPinned;
}

function space(text: string): string {
  return text.slice(text.trimEnd().length);
}

function spaceAfter(text: string): number {
  return space(text).length;
}

test("spaces at the ends of segments stay as they are, whatever happens before and after them", () => {
  const said = fc.stringMatching(/^[a-zþæö]{1,6}$/);
  const segment = fc.record({
    words: fc.uniqueArray(said, { minLength: 2, maxLength: 6 }),
    tail: fc.constantFrom("", " ", "\n", "  "),
  });
  fc.assert(
    fc.property(fc.array(segment, { minLength: 2, maxLength: 6 }), fc.nat(), (drawn, place) => {
      const segments = drawn.map(({ words, tail }, at) => segmentOf(at * 10, words, tail));
      const base = baseOf(segments);
      const paragraphs = paragraphsOf(base);
      const index = place % (paragraphs.length - 1);
      const [one, next] = [paragraphs[index], paragraphs[index + 1]];
      assert.ok(one && next);
      const tails = (edited: readonly EditedParagraph[]) =>
        segmentsAfter(base, changesOf(base, edited)).map(({ words }) =>
          space(words?.at(-1)?.word ?? ""),
        );
      const own = drawn.map(({ tail }) => tail);
      // Words before the last one change, and spaces are typed after it.
      const typed = { ...one, text: `nýtt ${one.text} ` };
      assert.deepEqual(tails(paragraphs.with(index, typed)), own);
      // A word that ends no segment any more has a space, and the last one keeps its own.
      const both = joined(one, next);
      const after = paragraphs.toSpliced(index, 2, both);
      assert.deepEqual(tails(after), own.toSpliced(index, 1));
      const inner = segmentsAfter(base, changesOf(base, after))[index]?.words ?? [];
      const middle = drawn[index]?.words.length ?? 0;
      assert.match(inner[middle - 1]?.word ?? "", /\s$/);
      // One that ends a segment from now on keeps its space.
      const divided = paragraphs.toSpliced(
        index,
        1,
        ...dividedAt(base, one, (base.words[one.from]?.word ?? "").length),
      );
      assert.deepEqual(tails(divided), own.toSpliced(index, 0, " "));
    }),
    many,
  );
});

function segmentOf(start: number, words: readonly string[], tail: string): SegmentJson {
  const timed = words.map((word, at) => ({
    startTime: `${start + at}s`,
    endTime: `${start + at + 1}s`,
    word: word + (at === words.length - 1 ? tail : " "),
  }));
  return {
    speakerId: "1",
    startTime: `${start}s`,
    endTime: `${start + words.length}s`,
    words: timed,
  };
}

test("changes do not depend on the way to a text, and a worker can compute them", () => {
  fc.assert(
    fc.property(
      drawnEdits,
      fc.string({ maxLength: 20 }),
      ({ base, paragraphs, retimings }, typed) => {
        const changes = changesOf(base, paragraphs, retimings);
        const message = structuredClone({ base, paragraphs, retimings });
        const cloned = changesOf(message.base, message.paragraphs, message.retimings);
        assert.deepEqual(cloned, changes);
        // Text that is typed and removed again, in each paragraph.
        const typing = paragraphs.map((one) => ({ ...one, text: typed + one.text }));
        changesOf(base, typing, retimings);
        const removed = typing.map((one) => ({ ...one, text: one.text.slice(typed.length) }));
        assert.deepEqual(changesOf(base, removed, retimings), changes);
      },
    ),
    many,
  );
});

test("changes are ranges in order, and segments outside them are the objects that were received", () => {
  fc.assert(
    fc.property(drawnEdits, ({ base, paragraphs, retimings }) => {
      const changes = changesOf(base, paragraphs, retimings);
      let end = -1;
      for (const { startIndex, endIndex, segments } of changes) {
        assert.ok(startIndex > end && endIndex >= startIndex);
        assert.ok(segments.length > 0 || endIndex > startIndex);
        end = endIndex;
      }
      assert.ok(end <= base.segments.length);
      const after = new Set(segmentsAfter(base, changes));
      for (const [index, segment] of base.segments.entries()) {
        const isReplaced = changes.some((one) => one.startIndex <= index && index < one.endIndex);
        assert.equal(after.has(segment), !isReplaced);
      }
    }),
    many,
  );
});

test("a paragraph that is divided and joined again has no changes", () => {
  fc.assert(
    fc.property(drawnSegments, fc.nat(), fc.nat(), (segments, index, at) => {
      const base = baseOf(segments);
      const paragraphs = paragraphsOf(base);
      const paragraph = paragraphs[index % Math.max(1, paragraphs.length)];
      if (!paragraph) return;
      const [one, next] = dividedAt(base, paragraph, at % (paragraph.text.length + 1));
      assertRuns(base, paragraphs.toSpliced(paragraphs.indexOf(paragraph), 1, one, next));
      const again = joined(one, next);
      const all = paragraphs.with(paragraphs.indexOf(paragraph), again);
      if (again.text === paragraph.text) assert.deepEqual(changesOf(base, all), []);
    }),
    many,
  );
});
