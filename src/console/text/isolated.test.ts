import assert from "node:assert/strict";
import { test } from "node:test";
import { isolated, isolating } from "./isolated.ts";

test("a text that can turn the direction is isolated, and no other", () => {
  const table: [text: string, shown: string][] = [
    ["", ""],
    ["Fundur 12. maí – „Þjórsá“", "Fundur 12. maí – „Þjórsá“"],
    ["会議 👩‍💻", "会議 👩‍💻"],
    ["a\u202Eb", "\u2068a\u202Eb\u2069"],
    ["שלום", "\u2068שלום\u2069"],
    ["سلام 1", "\u2068سلام 1\u2069"],
    // An end of its own would let the rest out.
    ["a\u2069\u202Eb", "\u2068a\u202Eb\u2069"],
    ["\u2067a\u2069b", "\u2068\u2067a\u2069b\u2069"],
    ["\u2067a", "\u2068\u2067a\u2069\u2069"],
  ];
  for (const [text, shown] of table) assert.equal(isolated(text), shown, JSON.stringify(text));
});

test("a text of the dictionary isolates what it gets, and other values stay", () => {
  const restored = isolating((subject: string, count: number) => `„${subject}“: ${count}`);
  assert.equal(restored("a\u202Eb", 2), "„\u2068a\u202Eb\u2069“: 2");
  assert.equal(isolating("Loka"), "Loka");
});
