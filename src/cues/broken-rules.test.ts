import assert from "node:assert/strict";
import { test } from "node:test";
import { brokenRules, type BrokenRule } from "./broken-rules.ts";

const half = "x".repeat(42);

test("brokenRules() names each rule that a cue breaks, and by how much", () => {
  const rows: [ms: number, lines: string[], broken: BrokenRule[]][] = [
    [1_000, ["stutt"], []],
    [999, ["stutt"], [{ rule: "msMin", ms: 999 }]],
    [7_000, [half, half], []],
    [7_001, ["a"], [{ rule: "msMax", ms: 7_001 }]],
    [2_000, ["x".repeat(34)], []],
    [2_000, ["x".repeat(35)], [{ rule: "charsPerSecond", charsPerSecond: 17.5 }]],
    [7_000, ["x".repeat(43)], [{ rule: "lineChars", chars: 43 }]],
    [7_000, ["x".repeat(43), "x".repeat(44)], [{ rule: "lineChars", chars: 44 }]],
    [7_000, ["a", "b", "c"], [{ rule: "lines", count: 3 }]],
    // 43 code units, but 42 characters for a reader.
    [7_000, [`${"x".repeat(41)}e\u0301`], []],
    [
      500,
      ["x".repeat(50), "b", "c"],
      [
        { rule: "lines", count: 3 },
        { rule: "lineChars", chars: 50 },
        { rule: "msMin", ms: 500 },
        { rule: "charsPerSecond", charsPerSecond: 108 },
      ],
    ],
    // A cue without any time.
    [
      0,
      ["a"],
      [
        { rule: "msMin", ms: 0 },
        { rule: "charsPerSecond", charsPerSecond: Infinity },
      ],
    ],
  ];
  for (const [ms, lines, broken] of rows) {
    const chars = lines.join(" ").normalize("NFC").length;
    const cue = { startMs: 5_000, endMs: 5_000 + ms, speakerId: "", lines, chars };
    assert.deepEqual(brokenRules(cue), broken, `${ms} ms: ${lines.join("|")}`);
  }
});
