import assert from "node:assert/strict";
import { test } from "node:test";
import type { LibraryResult } from "./library-result.ts";
import { joinedReadings, readingOf } from "./reading.ts";

function result(
  text: string,
  tokens: readonly [string, number][],
  rest: Partial<LibraryResult> = {},
) {
  return {
    text,
    tokens: tokens.map(([token]) => token),
    startSeconds: tokens.map(([, start]) => start),
    durationSeconds: [],
    logProbabilities: [],
    ...rest,
  };
}

function shown(result: LibraryResult, lengthMs = 5000): string {
  const { text = "", words = [] } = readingOf(result, lengthMs) ?? {};
  return `${text} = ${words.map((word) => `${word.text} ${word.startMs}-${word.endMs}`).join(", ")}`;
}

test("words have the times of their tokens", () => {
  const rows: [name: string, result: LibraryResult, expected: string][] = [
    [
      "parts of words, a space before the first of each",
      result(" HELLO WORLD", [
        [" HE", 0.2],
        ["LLO", 0.4],
        [" WORLD", 1],
      ]),
      "HELLO WORLD = HELLO 200-640, WORLD 1000-1400",
    ],
    [
      "tokens with the mark of SentencePiece",
      result("halló heimur", [
        ["▁halló", 0.5],
        ["▁heimur", 0.9],
      ]),
      "halló heimur = halló 500-900, heimur 900-1300",
    ],
    [
      "letters, a space between words",
      result("já nei", [
        ["j", 0.1],
        ["á", 0.16],
        [" ", 0.3],
        ["n", 0.4],
        ["e", 0.44],
        ["i", 0.52],
      ]),
      "já nei = já 100-240, nei 400-600",
    ],
    [
      "parts that continue with @@",
      result(" hello", [
        ["hel@@", 0.1],
        ["lo", 0.3],
      ]),
      "hello = hello 100-460",
    ],
    [
      "a script without spaces",
      result("今天天气。", [
        ["今", 0.1],
        ["天", 0.3],
        ["天", 0.5],
        ["气", 0.7],
        ["。", 0.9],
      ]),
      "今天天气。 = 今 100-180, 天 300-380, 天 500-580, 气。 700-980",
    ],
    [
      "both scripts",
      result("我 love 你", [
        ["我", 0],
        [" lo", 0.2],
        ["ve", 0.3],
        ["你", 0.6],
      ]),
      "我 love 你 = 我 0-80, love 200-460, 你 600-680",
    ],
    [
      "bytes in place of letters: tokens that begin words",
      result("þú ert", [
        ["<0xC3>", 0.1],
        ["<0xBE>", 0.1],
        ["ú", 0.2],
        [" ert", 0.5],
      ]),
      "þú ert = þú 100-280, ert 500-740",
    ],
    [
      "more words than the tokens begin: no times",
      result("twenty one", [["21", 0.1]]),
      "twenty one = ",
    ],
    ["no times at all", result("já", [["já", 0]], { startSeconds: [] }), "já = "],
    [
      "durations",
      result(
        "já nei",
        [
          [" já", 0.1],
          [" nei", 0.9],
        ],
        { durationSeconds: [0.5, 0.2] },
      ),
      "já nei = já 100-600, nei 900-1100",
    ],
  ];
  for (const [name, result, expected] of rows) assert.equal(shown(result), expected, name);
});

test("words are in order, within the utterance, and at least a millisecond long", () => {
  const together = result("a b c", [
    [" a", 0.5],
    [" b", 0.5],
    [" c", 0.5],
  ]);
  assert.equal(shown(together, 1000), "a b c = a 498-499, b 499-500, c 500-580");
  assert.equal(shown(together, 400), "a b c = a 397-398, b 398-399, c 399-400");
  assert.equal(shown(together, 3), "a b c = a 0-1, b 1-2, c 2-3");
  assert.equal(shown(together, 2), "a b c = ", "no room for three");
  assert.equal(
    shown(
      result("a b", [
        [" a", 0.9],
        [" b", 0.1],
      ]),
    ),
    "a b = a 99-100, b 100-180",
  );
});

test("annotations and subtitle credits are not returned as words", () => {
  const rows: [text: string, expected: string | undefined][] = [
    ["", undefined],
    [" ", undefined],
    [" .", undefined],
    [" [BLANK_AUDIO]", undefined],
    [" (wind blowing)", undefined],
    [" ♪", undefined],
    ["<unk>", undefined],
    [" Subtitles by the Amara.org community", undefined],
    [" Hello. [soft music] Goodbye.", "Hello. Goodbye."],
    [" ♪ la la ♪", "la la"],
    [" He (Peter) came.", "He (Peter) came."],
    ["  two\n spaces ", "two spaces"],
  ];
  for (const [text, expected] of rows) {
    assert.equal(readingOf(result(text, []), 1000)?.text, expected, JSON.stringify(text));
  }
});

test("the confidence of a word is the geometric mean of its tokens, and that of a reading is the mean of its words", () => {
  const noWay = result(
    "no way",
    [
      [" n", 0.1],
      ["o", 0.2],
      [" way", 0.4],
    ],
    {
      logProbabilities: [Math.log(0.5), Math.log(0.125), 0],
    },
  );
  const reading = readingOf(noWay, 1000);
  assert.deepEqual(
    reading?.words.map(({ confidence }) => confidence),
    [0.25, 1],
  );
  assert.equal(reading?.confidence, 0.625);
  const noLogarithms = readingOf({ ...noWay, logProbabilities: [0.5, 0.2, 0.1] }, 1000);
  assert.ok(noLogarithms && !("confidence" in noLogarithms));
  assert.ok(noLogarithms.words.every((word) => !("confidence" in word)));
});

test("joinedReadings() joins readings of consecutive parts", () => {
  const word = { text: "já", startMs: 100, endMs: 200, confidence: 0.5 };
  const part = { text: "já", confidence: 0.5, words: [word] };
  assert.equal(joinedReadings([]), undefined);
  assert.deepEqual(
    joinedReadings([
      [part, 0],
      [{ ...part, confidence: 0.7 }, 3000],
    ]),
    {
      text: "já já",
      confidence: 0.6,
      words: [word, { ...word, startMs: 3100, endMs: 3200 }],
    },
  );
  const untimed = joinedReadings([
    [part, 0],
    [{ text: "nei", words: [] }, 3000],
  ]);
  assert.deepEqual(untimed, { text: "já nei", words: [] });
});
