import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, isOne } from "./counted.ts";
import { capital, listed } from "./listed.ts";

test("isOne() depends on the last digits in Icelandic, and on the whole number in English", () => {
  const numbers = [0, 1, 2, 10, 11, 12, 21, 22, 101, 111, 1001, 1011];
  assert.deepEqual(
    numbers.filter((count) => isOne("is", count)),
    [1, 21, 101, 1001],
  );
  assert.deepEqual(
    numbers.filter((count) => isOne("en", count)),
    [1],
  );
});

test("counted() writes numbers in the format of the language", () => {
  assert.equal(counted("is", 1201, "uppskrift", "uppskriftir"), "1.201 uppskrift");
  assert.equal(counted("is", 1200, "uppskrift", "uppskriftir"), "1.200 uppskriftir");
  assert.equal(counted("en", 21, "word", "words"), "21 words");
});

test('listed() puts an "and" before the last word', () => {
  assert.equal(listed("is", []), "");
  assert.equal(listed("is", ["texta"]), "texta");
  assert.equal(listed("is", ["texta", "nöfnum", "titli"]), "texta, nöfnum og titli");
  assert.equal(capital(listed("en", ["text", "names"])), "Text and names");
  assert.equal(capital("öðru"), "Öðru");
});
