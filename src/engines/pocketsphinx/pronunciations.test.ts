import assert from "node:assert/strict";
import { test } from "node:test";
import { Pronunciations } from "./pronunciations.ts";

const pronunciations = new Pronunciations();

/** The parts of a word: pronunciations separated by "/", and "*" for any sound. */
function partsOf(word: string): string[] {
  return pronunciations
    .partsOf(word)
    .map((part) => part?.map((phones) => phones.join(" ")).join(" / ") ?? "*");
}

const cases: readonly [word: string, parts: readonly string[]][] = [
  ["Hello,", ["HH AH L OW / HH EH L OW"]],
  ["don’t", ["D OW N T / D OW N"]],
  ["well-known", ["W EH L N OW N"]],
  ["(cat)", ["K AE T"]],
  ["1984", ["*"]],
  ["$5.20", ["*"]],
  ["50%", ["*"]],
  ["3rd", ["*", "R D"]],
  ["well-groomed", ["W EH L", "G R UW M D"]],
  ["R2D2", ["AA R", "*", "D IY", "*"]],
  ["&", ["*"]],
  ["Привет", ["*"]],
  ["café", ["K AH F EY / K AE F EY"]],
  ["snabbing", ["S N AE B IH NG"]],
  ["snabbing's", ["S N AE B IH NG Z"]],
  ["ZXQ", ["Z IY", "EH K S", "K Y UW"]],
  ["—", []],
  ["'", []],
  ["", []],
];
for (const [word, parts] of cases) {
  test(`${JSON.stringify(word)} has its pronunciation`, () => {
    assert.deepEqual(partsOf(word), parts);
  });
}
