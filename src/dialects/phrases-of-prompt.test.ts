import assert from "node:assert/strict";
import { test } from "node:test";
import { phrasesOfPrompt } from "./phrases-of-prompt.ts";

test("phrasesOfPrompt() finds the phrases that are worth a hint", () => {
  const rows: readonly [prompt: string, phrases: readonly string[]][] = [
    ["", []],
    ["ZyntriQix, Digique Plus, CynapseFive", ["ZyntriQix", "Digique Plus", "CynapseFive"]],
    ["Guðrún Ósk; Þingvellir\nkaffihús", ["Guðrún Ósk", "Þingvellir", "kaffihús"]],
    ["Names: Ada, Grace Hopper.", ["Names", "Ada", "Grace Hopper"]],
    ["Then we met Ada Lovelace in the long hall of Oxford.", ["Ada Lovelace", "Oxford"]],
    ["The text before, which is long and ends here. Anna came late.", []],
    ['He said "hello" to Jón og Jón again today.', ["Jón"]],
    ["one, two, one", ["one", "two"]],
  ];
  for (const [prompt, phrases] of rows) assert.deepEqual(phrasesOfPrompt(prompt), phrases, prompt);
});
