import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrokenRule } from "../../../cues/broken-rules.ts";
import { ruleText } from "./rule-text.ts";

test("ruleText() shows what a cue has and the limit, rounded away from the limit", () => {
  const rows: [broken: BrokenRule, is: string, en: string][] = [
    [{ rule: "lines", count: 3 }, "3 línur, mest 2", "3 lines, at most 2"],
    [
      { rule: "lineChars", chars: 44 },
      "44 stafir í línu, mest 42",
      "44 characters in a line, at most 42",
    ],
    [{ rule: "msMin", ms: 999 }, "0,9 s, minnst 1 s", "0.9 s, at least 1 s"],
    [{ rule: "msMax", ms: 7_001 }, "7,1 s, mest 7 s", "7.1 s, at most 7 s"],
    [
      { rule: "charsPerSecond", charsPerSecond: 17.001 },
      "17,1 stafir á sekúndu, mest 17",
      "17.1 characters a second, at most 17",
    ],
    [
      { rule: "charsPerSecond", charsPerSecond: 20 },
      "20 stafir á sekúndu, mest 17",
      "20 characters a second, at most 17",
    ],
    [
      { rule: "charsPerSecond", charsPerSecond: Infinity },
      "∞ stafir á sekúndu, mest 17",
      "∞ characters a second, at most 17",
    ],
  ];
  for (const [broken, is, en] of rows) {
    assert.deepEqual([ruleText("is", broken), ruleText("en", broken)], [is, en]);
  }
});
