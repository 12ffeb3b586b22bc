import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccepted } from "../../../../../test/fixtures/edited-texts.ts";
import { transcriptLimits } from "../../../../transcripts/transcript-limits.ts";
import { baseOf, paragraphsOf, type EditedParagraph } from "./base.ts";
import { changesOf, segmentsAfter, type SegmentsChange } from "./changes.ts";
import { dividedAt, joined } from "./divide.ts";
import { savedLimits } from "./problems.ts";
import type { Retimings } from "./retimings.ts";

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

test("a segment in which only spaces at the end were edited keeps them, and its words without text", () => {
  const times = { startTime: "1s", endTime: "1.500s" };
  const words = ["Góðan ", "dag. ", "", " "].map((word) => ({ ...times, word }));
  const base = baseOf([{ ...times, words, speakerId: "" }]);
  const [paragraph] = paragraphsOf(base);
  assert.ok(paragraph);
  for (const text of ["Góðan dag.", "Góðan dag. ", "Góðan dag.   "]) {
    assert.deepEqual(changesOf(base, [{ ...paragraph, text }]), []);
  }
});

test("words at the edge of joined segments keep all their fields, with a space between them", () => {
  const times = { startTime: "1s", endTime: "1.500s", confidence: 0.5, spoken: "sagt" };
  const segments = ["dag.", "Komið."].map((word) => ({
    ...times,
    words: [{ ...times, word }],
    speakerId: "1",
  }));
  const base = baseOf(segments);
  const [one, next] = paragraphsOf(base);
  assert.ok(one && next);
  const [change] = changesOf(base, [joined(one, next)]);
  assert.deepEqual(change?.segments[0]?.words, [
    { ...times, word: "dag. " },
    { ...times, word: "Komið." },
  ]);
});

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

test("the limits are those of the service", () => {
  const { segments, words, wordChars } = transcriptLimits;
  assert.deepEqual(savedLimits, { segments, words, wordChars });
});
