import assert from "node:assert/strict";
import { test } from "node:test";
import { paragraphWordsMax } from "../../std/paragraph-end.ts";
import { extentOfWord, paragraphOfWord, spokenText, wordAt, wordAtOffset } from "./spoken-text.ts";

/** A segment whose words take half a second each. */
function segmentOf(said: string, start: number, speakerId = "") {
  const words = said.split(/(?<=\s)/).map((word, at) => ({
    startTime: `${start + at / 2}s`,
    endTime: `${start + at / 2 + 0.5}s`,
    word,
  }));
  return { startTime: `${start}s`, endTime: `${start + words.length / 2}s`, words, speakerId };
}

test("each segment is a paragraph, and a turn begins when the speaker changes", () => {
  const text = spokenText([
    segmentOf("Góðan dag. ", 0, "1"),
    segmentOf("Og vertu velkomin.", 1, "1"),
    { startTime: "2.5s", endTime: "3s", words: [], speakerId: "2" },
    segmentOf("Takk!", 3, "2"),
    segmentOf("(hlær)", 4),
  ]);
  assert.deepEqual(
    text.paragraphs.map(({ text: said, start, isTurn, firstWord }) => [
      said,
      start,
      isTurn,
      firstWord,
    ]),
    [
      ["Góðan dag. ", 0, true, 0],
      ["Og vertu velkomin.", 1, false, 2],
      ["Takk!", 3, true, 5],
      ["(hlær)", 4, false, 6],
    ],
  );
  assert.equal(text.wordCount, 7);
  assert.equal(text.byTime, undefined);
});

test("wordAt() finds the word played at a given time, and wordAtOffset() the word at a character offset", () => {
  const text = spokenText([segmentOf("Góðan dag. ", 2), segmentOf("Og velkomin.", 5)]);
  const said = (word: number) => {
    const paragraph = text.paragraphs[paragraphOfWord(text, word)];
    const { from, to } = extentOfWord(text, word);
    return paragraph?.text.slice(from, to);
  };
  const played: [seconds: number, word: string | undefined][] = [
    [0, undefined],
    [1.999, "Góðan"],
    [2.4, "Góðan"],
    [2.5, "dag."],
    [4.9, "dag."],
    [5, "Og"],
    [100, "velkomin."],
  ];
  for (const [seconds, word] of played)
    assert.equal(said(wordAt(text, seconds)), word, `${seconds}`);
  for (const [offset, word] of [
    [0, "Góðan"],
    [5, "Góðan"],
    [6, "dag."],
    [11, "dag."],
  ] as const) {
    assert.equal(said(wordAtOffset(text, 0, offset)), word, `${offset}`);
  }
  assert.equal(said(wordAtOffset(text, 1, 4)), "velkomin.");
  assert.equal(wordAt(spokenText([]), 1), -1);
});

test("wordAt() finds the word that began last when speakers overlap", () => {
  const text = spokenText([segmentOf("a b c d ", 0, "1"), segmentOf("x y ", 0.75, "2")]);
  const words = [0, 0.5, 0.8, 1, 1.3, 1.6].map((seconds) => wordAt(text, seconds));
  assert.deepEqual(words, [0, 1, 4, 2, 5, 3]);
});

test("a very long segment is split at the ends of sentences, and no word is lost", () => {
  const sentence = "Þetta er setning með sjö orðum alls. ";
  const said = sentence.repeat(100) + "orð ".repeat(400);
  const text = spokenText([segmentOf(said.trimEnd(), 0, "1")]);
  assert.equal(text.paragraphs.map((paragraph) => paragraph.text).join(""), said.trimEnd());
  const counts = text.paragraphs.map(
    ({ firstWord }, at) => (text.paragraphs[at + 1]?.firstWord ?? text.wordCount) - firstWord,
  );
  assert.ok(Math.max(...counts) <= paragraphWordsMax, String(counts));
  assert.equal(text.paragraphs[0]?.text, sentence.repeat(21));
  assert.deepEqual(
    text.paragraphs.map(({ isTurn }) => isTurn),
    text.paragraphs.map((_, at) => at === 0),
  );
});
