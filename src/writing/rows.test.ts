import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { spokenText } from "../../test/fixtures/random-speech.ts";
import { writeWords } from "./write-words.ts";

/** Each file has rows `spoken -> written`; `|` is a pause, and `#` begins a comment. */
const files = ["numbers", "dates", "amounts", "sentences"];

function rowsOf(path: string): [spoken: string, written: string][] {
  const lines = readFileSync(join(import.meta.dirname, "rows", path), "utf8").split("\n");
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [spoken = "", written = ""] = line.split(" -> ");
      return [spoken, written];
    });
}

for (const languageCode of ["is-IS", "en-US"]) {
  describe(`the rows of ${languageCode}`, () => {
    test("are at least 500, and no row is there twice", () => {
      const rows = files.flatMap((file) =>
        rowsOf(`${languageCode}/${file}.txt`).map(([spoken]) => `${file}: ${spoken}`),
      );
      assert.deepEqual(
        rows.filter((each, index) => rows.indexOf(each) !== index),
        [],
      );
      assert.ok(rows.length >= 500, String(rows.length));
    });

    for (const file of files) {
      test(`are written as in ${file}.txt`, () => {
        const wrong = rowsOf(`${languageCode}/${file}.txt`).flatMap(([spoken, expected]) => {
          const punctuation = file === "sentences";
          const options = { languageCode, formats: true, punctuation, masksProfanity: false };
          const written = writeWords(spokenText(spoken), options).map(({ text }) => text);
          const actual = written.join(" ");
          return actual === expected ? [] : [`${spoken} -> ${actual}, not ${expected}`];
        });
        assert.deepEqual(wrong, []);
      });
    }
  });
}
