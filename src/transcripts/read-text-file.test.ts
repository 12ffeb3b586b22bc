import assert from "node:assert/strict";
import { test } from "node:test";
import { readTextFile } from "./read-text-file.ts";
import { segmentsOfCues } from "./subtitles/cue-segments.ts";

/** Returns "0-1500 Anna: Góðan dag" for each segment. */
function brief(content: string, names: readonly string[] = []): string[] {
  const segments = segmentsOfCues(readTextFile(content, names), 1000);
  return segments.map(({ startMs, endMs, voice, words }) => {
    const text = words.map((word) => word.text).join("");
    return `${startMs}-${endMs} ${voice === "" ? "" : `${voice}: `}${text.trimEnd()}`;
  });
}

test("paragraphs of a text become segments", () => {
  const rows: [content: string, segments: string[]][] = [
    ["\n \n", []],
    ["Góðan dag", ["0-585 Góðan dag"]],
    // Empty lines separate paragraphs; without them, each line is one.
    ["\ufeffa b\r\nc\r\n\r\n\r\nd", ["0-260 a b c", "260-325 d"]],
    ["\n\na b\nc\n\n", ["0-195 a b", "195-260 c"]],
    // Times are those of the words after them.
    [
      "[0:01] a\n\n[00:00:01.500] b\n\n[1:00:00] c",
      ["1000-1200 a", "1500-1700 b", "3600000-3600065 c"],
    ],
    ["a [0:10] b [0:11] c", ["0-11065 a b c"]],
    ["[0:02]\na", ["2000-2065 a"]],
    // Text that is like a time, but none.
    ["Jóh [Jóh 3:16] [x] [1]", ["0-1430 Jóh [Jóh 3:16] [x] [1]"]],
    // Names of speakers.
    ["Anna: a\n\nBo: b", ["0-65 Anna: a", "65-130 Bo: b"]],
    [
      "[0:01] Anna: a\n\n[0:02] Bo:\nb\n\n[0:03] Anna: c",
      ["1000-1200 Anna: a", "2000-2200 Bo: b", "3000-3065 Anna: c"],
    ],
    ["Anna: a\n\nb\n\nAnna: c", ["0-65 Anna: a", "65-130 b", "130-195 Anna: c"]],
    ["Dr. Ása: a\n\n[0:01]\n\nDr. Ása: b", ["0-200 Dr. Ása: a", "1000-1065 Dr. Ása: b"]],
    // A colon in the text.
    ["a\n\nNote: b", ["0-65 a", "65-520 Note: b"]],
    ["a\n\n12:30 b\n\n12:40 c", ["0-65 a", "65-520 12:30 b", "520-975 12:40 c"]],
  ];
  for (const [content, segments] of rows) {
    assert.deepEqual(brief(content), segments, JSON.stringify(content));
  }
  assert.deepEqual(brief("a\n\nNote: b", ["Note"]), ["0-65 a", "65-130 Note: b"]);
});

test("a file with too many paragraphs or times is refused before more is read", () => {
  const rows: [content: string, message: RegExp][] = [
    ["a\n\n".repeat(2_700_000), /^line 40001: has 2700000 paragraphs: at most 20000 are allowed$/],
    [
      "[0:0]".repeat(1_600_000),
      /^line 1: a paragraph has too many times and lines: at most 200000/,
    ],
  ];
  for (const [content, message] of rows) {
    assert.throws(() => readTextFile(content, []), { name: "UnreadableFile", message });
  }
});
