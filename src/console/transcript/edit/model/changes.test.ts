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
import { transcriptLimits } from "../../../../transcripts/transcript-limits.ts";
import { runs } from "../../../../../test/fixtures/property-runs.ts";
import { type Base, baseOf, paragraphsOf, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter, type SegmentsChange } from "./changes.ts";
import { dividedAt, joined } from "./divide.ts";
import { groupsOf, textOfGroup } from "./edited-segments.ts";
import { findProblems, savedLimits } from "./problems.ts";
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
 * Returns the text of a segment as it is saved: a word that ended a segment and ends one again has
 * or lacks its space as before; all other words have the spaces of the text.
 */
function savedText(base: Base, group: readonly EditedParagraph[], retimings: Retimings): string {
  const text = textOfGroup(base, group);
  const last = group.flatMap((paragraph) => timesOf(base, paragraph, retimings)).at(-1);
  const word = last?.isUnchanged === true ? last.word : undefined;
  if (!last || word === undefined) return text;
  const wasLast = base.firsts.includes(word + 1);
  const own = base.words[word]?.word ?? "";
  return wasLast ? text.slice(0, text.length - spaceAfter(last.text)) + space(own) : text;
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

/** Two segments of two and three words; each word takes half a second and follows a pause. */
const doubtful = { startTime: "1s", endTime: "1.500s", word: "Góðan ", confidence: 0.5 };
const two = baseOf([
  {
    startTime: "0.100s",
    endTime: "3s",
    words: [doubtful, { startTime: "2s", endTime: "2.500s", word: "dag." }],
    speakerId: "1",
  },
  {
    startTime: "3s",
    endTime: "9s",
    words: [
      { startTime: "4s", endTime: "4.500s", word: "Komið " },
      { startTime: "5s", endTime: "5.500s", word: "þið " },
      { startTime: "6s", endTime: "6.500s", word: "sæl. " },
    ],
    speakerId: "2",
  },
]);

/** Writes changes: "0-1 1 0.1-3 Góðan @1-1.5|dag. @2-2.5". */
function brief(changes: readonly SegmentsChange[]): string[] {
  return changes.map(({ startIndex, endIndex, segments }) => {
    const shown = segments.map(({ speakerId, startTime, endTime, words = [] }) => {
      const said = words.map((word) => {
        const confidence = "confidence" in word ? `(${String(word.confidence)})` : "";
        return `${word.word}${confidence}@${word.startTime}-${word.endTime}`;
      });
      return `${speakerId} ${startTime}-${endTime} ${said.join("|")}`.replaceAll("s-", "-");
    });
    return [`${startIndex}-${endIndex}`, ...shown].join(" / ");
  });
}

test("a word that was changed loses its spoken form, and all others keep theirs", () => {
  const times = { startTime: "1s", endTime: "1.500s" };
  const words = [
    { ...times, word: "Kostar " },
    { ...times, word: "250 ", spoken: "tvö hundruð og fimmtíu" },
    { ...times, word: "kr. ", spoken: "krónur" },
    { ...times, word: "21.", spoken: "tuttugasta og fyrsta" },
  ];
  const base = baseOf([{ ...times, words, speakerId: "" }]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  const text = "Kostar 250 krónur  21.";
  const [change] = changesOf(base, [{ ...paragraph, text }]);
  const saved = change?.segments[0]?.words ?? [];
  assert.deepEqual(
    saved.map((word) => [word.word, word.spoken]),
    [
      ["Kostar ", undefined],
      ["250 ", "tvö hundruð og fimmtíu"],
      ["krónur  ", undefined],
      ["21.", "tuttugasta og fyrsta"],
    ],
  );
});

test("estimated times stay marked in edited words, until they are set", () => {
  const estimatedTimes = true;
  const words = ["hann ", "kom ", "heim ", "í ", "gær"].map((word, at) => ({
    startTime: `${at + 1}s`,
    endTime: `${at + 1}.500s`,
    word,
    ...(at < 4 && { estimatedTimes }),
  }));
  const base = baseOf([{ startTime: "1s", endTime: "9s", words, speakerId: "" }]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  const marksOf = (text: string, retimings?: Retimings) => {
    const [change] = changesOf(base, [{ ...paragraph, text }], retimings);
    return change?.segments[0]?.words?.map((word) => [word.word?.trim(), word.estimatedTimes]);
  };
  const rest = [
    ["heim", true],
    ["í", true],
    ["gær", undefined],
  ];
  // One word for another, two for one, and a new word.
  assert.deepEqual(marksOf("hann fór heim í gær"), [["hann", true], ["fór", true], ...rest]);
  assert.deepEqual(marksOf("hann fór þá heim í gær"), [
    ["hann", true],
    ["fór", true],
    ["þá", true],
    ...rest,
  ]);
  assert.deepEqual(marksOf("hann kom ekki heim í gær"), [
    ["hann", true],
    ["kom", true],
    ["ekki", true],
    ...rest,
  ]);
  const set: Retimings = new Map([[1, { startTime: "2.100s", endTime: "2.400s" }]]);
  assert.deepEqual(marksOf("hann kom heim í gær", set), [
    ["hann", true],
    ["kom", undefined],
    ...rest,
  ]);
  assert.deepEqual(marksOf("hann fór heim í gær", set)?.[1], ["fór", undefined]);
});

test("changesOf() returns the segments that differ", () => {
  const [one, next] = paragraphsOf(two);
  assert.ok(one && next);
  const rows: [name: string, paragraphs: EditedParagraph[], changes: string[]][] = [
    ["a space at the end", [{ ...one, text: "Góðan dag.  " }, next], []],
    ["no space at the end", [one, { ...next, text: "Komið þið sæl." }], []],
    [
      "one word",
      [{ ...one, text: "Góðan dag!" }, next],
      ["0-1 / 1 0.100-3s Góðan (0.5)@1-1.500s|dag!@2-2.500s"],
    ],
    [
      "the speaker",
      [{ ...one, speaker: "2" }, next],
      ["0-1 / 2 0.100-3s Góðan (0.5)@1-1.500s|dag.@2-2.500s"],
    ],
    [
      "a word before the last, whose missing space remains missing",
      [{ ...one, text: "Góðan góðan dag. " }, next],
      ["0-1 / 1 0.100-3s Góðan (0.5)@1-1.500s|góðan @1.500-1.855s|dag.@2-2.500s"],
    ],
    [
      "joined",
      [joined(one, next)],
      [
        "0-2 / 1 0.100-9s Góðan (0.5)@1-1.500s|dag. @2-2.500s" +
          "|Komið @4-4.500s|þið @5-5.500s|sæl. @6-6.500s",
      ],
    ],
    [
      "softly joined",
      [one, { ...next, speaker: "1", isSoft: true }],
      [
        "0-2 / 1 0.100-9s Góðan (0.5)@1-1.500s|dag. @2-2.500s" +
          "|Komið @4-4.500s|þið @5-5.500s|sæl. @6-6.500s",
      ],
    ],
    [
      "divided",
      [one, ...dividedAt(two, next, 6)],
      ["1-2 / 2 3-4.500s Komið @4-4.500s / 2 5-9s þið @5-5.500s|sæl. @6-6.500s"],
    ],
    ["emptied", [{ ...one, text: "" }, next], ["0-1"]],
    [
      "a new paragraph between",
      [one, { ...next, text: "Já. ", from: 2, to: 2 }, next],
      ["1-1 / 2 2.500-2.747s Já. @2.500-2.747s"],
    ],
  ];
  for (const [name, paragraphs, changes] of rows) {
    assert.deepEqual(brief(changesOf(two, paragraphs)), changes, name);
    assertAccepted(segmentsAfter(two, changesOf(two, paragraphs)));
  }
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

test("the limits are those of the service", () => {
  const { segments, words, wordChars } = transcriptLimits;
  assert.deepEqual(savedLimits, { segments, words, wordChars });
});
