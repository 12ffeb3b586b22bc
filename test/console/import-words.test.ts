// The console's texts for the service's English messages about files that are imported, in both
// languages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importViolationText } from "../../src/console/text/import-violations.ts";
import type { ImportFormat } from "../../src/transcripts/import-formats.ts";
import { readFile } from "../../src/transcripts/read-file.ts";

const times = "00:00:01,000 --> 00:00:02,000";
const segment = (fields: object) => JSON.stringify({ segments: [fields] });
const word = (startTime: string, endTime: string) => ({ startTime, endTime, word: "a" });

test("every reason why a file cannot be read has a text of the console in both languages", () => {
  const rows: [format: ImportFormat, content: string][] = [
    ["SRT", "halló"],
    ["VTT", "halló"],
    ["SRT", "00:00:02,000 --> 00:00:01,000\nA"],
    ["SRT", "00:61:00,000 --> 01:00:01,000\nA"],
    ["SRT", "00:00:00,000 --> 1001:00:00,000\nA"],
    ["SRT", `${times}\nA\n\n`.repeat(20_001)],
    ["SRT", `${times}\n${"a ".repeat(200_001)}`],
    ["VTT", `WEBVTT\n\n${times}\n<v ${"a".repeat(1001)}>A`],
    [
      "VTT",
      `WEBVTT\n\n${Array.from({ length: 1001 }, (_, at) => `${times}\n<v ${at}>A\n\n`).join("")}`,
    ],
    ["TEXT", "[0:61] a"],
    ["TEXT", "[1001:00:00] a"],
    ["TEXT", "[0:02] a\n\n[0:01] b"],
    ["TEXT", "a\n".repeat(20_001)],
    ["JSON", "{}"],
    ["JSON", '{"segments": ['],
    ["JSON", '{"segments": [x]}'],
    ["JSON", segment({ startTime: "2s", endTime: "1s" })],
    ["JSON", segment({ startTime: "1s" })],
    ["JSON", segment({ startTime: "1s", endTime: "2s", words: [word("0s", "1s")] })],
    ["JSON", segment({ startTime: "1s", endTime: "2s", words: [word("1s", "3s")] })],
    [
      "JSON",
      segment({ startTime: "1s", endTime: "4s", words: [word("2s", "3s"), word("1s", "2s")] }),
    ],
  ];
  for (const [format, content] of rows) {
    const reading = readFile({ content, format, names: new Map() });
    assert.ok("problem" in reading, content.slice(0, 80));
    const { problem } = reading;
    const { is, en, detail } = importViolationText({ field: "content", description: problem });
    assert.equal(detail, undefined, problem);
    assert.notEqual(is, en, problem);
    assert.match(is, /^(Lína [\d.]+: )?\S.*\.$/su, problem);
    assert.match(en, /^(Line [\d,]+: )?\S.*\.$/su, problem);
    assert.equal(is.startsWith("Lína"), /^line \d/.test(problem), problem);
  }
  const empty = importViolationText({ field: "content", description: "is required: the text" });
  assert.deepEqual(empty, { is: "Skráin er tóm.", en: "The file is empty." });
  const later = { field: "content", description: "line 3: of a later version" };
  assert.deepEqual(importViolationText(later), {
    is: "Lína 3: Þjónustan tók ekki við þessu.",
    en: "Line 3: The service did not accept this.",
    detail: "of a later version",
  });
});
