import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { normalizeWords, sourceWords } from "./normalize-words.ts";

const rows = join(import.meta.dirname, "../../writing/rows");
const files = ["numbers", "dates", "amounts", "sentences"];

function standard(text: string, languageCode: string): string {
  const tokens = normalizeWords(sourceWords(text), { normalization: "standard", languageCode });
  return tokens.map((token) => token.text).join(" ");
}

/** Returns the rows of a language whose spoken and written forms are compared as different. */
function different(languageCode: string): string[] {
  return files.flatMap((file) =>
    readFileSync(join(rows, languageCode, `${file}.txt`), "utf8")
      .split("\n")
      .filter((row) => {
        const [spoken = "", written = ""] = row.replaceAll("| ", "").split(" -> ");
        const isRow = row !== "" && !row.startsWith("#");
        return isRow && standard(spoken, languageCode) !== standard(written, languageCode);
      }),
  );
}

test("a text in words and the same in digits and signs are equal after normalization", () => {
  // The case of "bls." is unknown.
  assert.deepEqual(different("is-IS"), [
    "á blaðsíðu tólf -> á bls. 12",
    "á blaðsíðu þrjú -> á bls. 3",
  ]);
  // Letters that are said one by one stay apart, and Roman digits are letters.
  const isOther = (row: string): boolean => !/\b[A-Z]{2,}\b|\bI\b/.test(row.split(" -> ")[1] ?? "");
  assert.deepEqual(different("en-US").filter(isOther), []);
});

test("what people write in other ways than src/writing is equal too", () => {
  const pairs: [languageCode: string, one: string, other: string][] = [
    ["is-IS", "10 kílómetrar", "tíu km"],
    ["is-IS", "250 krónum", "tvö hundruð og fimmtíu krónur"],
    ["is-IS", "8,2 milljarðar króna", "átta komma tveir milljarðar króna"],
    ["is-IS", "klukkan 14:30", "kl. fjórtán þrjátíu"],
    ["is-IS", "5 prósentum", "5%"],
    ["en-US", "2.3 million dollars", "$2.3 million"],
    ["en-US", "10 kilometers", "ten km"],
    ["en-US", "on January 21st", "on january twenty first"],
    ["en-US", "at 10 PM", "at ten p m"],
  ];
  for (const [languageCode, one, other] of pairs) {
    assert.equal(standard(one, languageCode), standard(other, languageCode));
  }
  assert.equal(standard("8,2 milljarðar", "is-IS"), "8200000000");
  assert.equal(standard("2.3 million", "en-US"), "2300000");
});
