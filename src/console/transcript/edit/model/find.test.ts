import assert from "node:assert/strict";
import { test } from "node:test";
import { finderOf, type Search, withReplaced } from "./find.ts";

const search = (text: string, more: Partial<Search> = {}): Search => ({
  text,
  isCaseExact: false,
  isWholeWords: false,
  ...more,
});

function foundIn(text: string, wanted: Search): string[] {
  return (finderOf(wanted)?.(text) ?? []).map(({ from, to }) => text.slice(from, to));
}

test("finderOf() finds phrases, by case, by whole words, and by composed characters", () => {
  const rows: [text: string, wanted: Search, found: string[]][] = [
    ["Þórður fór, ÞÓRÐUR kom", search("þórður"), ["Þórður", "ÞÓRÐUR"]],
    ["Þórður fór, ÞÓRÐUR kom", search("ÞÓRÐUR", { isCaseExact: true }), ["ÞÓRÐUR"]],
    ["á og a og Á", search("á"), ["á", "Á"]],
    ["á og a", search("a"), ["a"]],
    ["brúin, brú og brú-", search("brú", { isWholeWords: true }), ["brú", "brú"]],
    ["æbrú", search("brú", { isWholeWords: true }), []],
    ["við brúna\u00a0að það", search("brúna  að"), ["brúna\u00a0að"]],
    ["a\u0301in, áin", search("áin"), ["a\u0301in", "áin"]],
    ["áin", search("a\u0301in"), ["áin"]],
    ["xa\u0301in", search("a"), []],
    ["İ x İx", search("x"), ["x", "x"]],
    ["Straße, STRASSE", search("strasse"), ["Straße", "STRASSE"]],
    ["Straße", search("s"), ["S", "ß"]],
    ["Straße i\u0307 e", search("e"), ["e", "e"]],
    ["οδος ΟΔΟΣ", search("οδος"), ["οδος", "ΟΔΟΣ"]],
    ["Straße", search("ss", { isCaseExact: true }), []],
    ["1.5 (a+b) 135", search("1.5"), ["1.5"]],
    ["f(a+b)", search("(a+b)", { isWholeWords: true }), ["(a+b)"]],
    ["aaa", search("aa"), ["aa"]],
    ["😀x😀", search("x😀"), ["x😀"]],
  ];
  for (const [text, wanted, found] of rows) {
    assert.deepEqual(foundIn(text, wanted), found, JSON.stringify([text, wanted]));
  }
  for (const text of ["", " ", "\t \n"]) assert.equal(finderOf(search(text)), undefined);
});

test("withReplaced() replaces each place, by shorter or longer texts", () => {
  const text = "ein á, önnur á";
  const found = finderOf(search("á"))?.(text) ?? [];
  assert.equal(withReplaced(text, found, "sprunga"), "ein sprunga, önnur sprunga");
  assert.equal(withReplaced(text, found, ""), "ein , önnur ");
  assert.equal(withReplaced(text, [], "x"), text);
});
