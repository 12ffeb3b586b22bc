import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenTable } from "./token-table.ts";
import { Speller } from "./word-arcs.ts";

/** The arcs of a word, as "from-to token"; "*" is any sound. */
function arcsOf(word: string, symbols: readonly string[]): string[] {
  const { arcs } = new Speller(tokenTable("tokens.txt", symbols)).spell(word);
  return arcs.map(
    ({ from, to, token }) => `${from}-${to} ${token === undefined ? "*" : symbols[token]}`,
  );
}

const characters = ["<blk>", "▁", "a", "á", "b", "n", "u", "þ"];
const pieces = ["<blk>", "▁a", "▁ab", "a", "b", "ba", "▁b"];

const cases: readonly [word: string, symbols: readonly string[], arcs: string[]][] = [
  ["banna", characters, ["0-1 b", "1-2 a", "2-3 n", "3-4 n", "4-5 a"]],
  ["Áb", characters, ["0-1 á", "1-2 b"]],
  ["„ab,“", characters, ["0-1 a", "1-2 b"]],
  ["a-b", characters, ["0-1 a", "1-2 b"]],
  ["ñü", characters, ["0-1 n", "1-2 u"]],
  ["1984", characters, ["0-1 *"]],
  ["ab19", characters, ["0-1 a", "1-2 b", "2-3 *"]],
  ["50%", characters, ["0-1 *"]],
  ["%", characters, ["0-1 *"]],
  ["Привет", characters, ["0-1 *"]],
  ["a\u0301", characters, ["0-1 á"]],
  ["—", characters, []],
  ["...", characters, []],
  ["", characters, []],
  ["aba", pieces, ["0-1 ▁a", "0-2 ▁ab", "1-2 b", "1-3 ba", "2-3 a"]],
  ["bb", pieces, ["0-1 ▁b", "1-2 b"]],
];
for (const [word, symbols, arcs] of cases) {
  test(`${JSON.stringify(word)} is spelled with ${symbols.length} tokens`, () => {
    assert.deepEqual(arcsOf(word, symbols), arcs);
  });
}
