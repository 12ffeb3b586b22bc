import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ServiceError, Violations } from "../std/service-error.ts";
import { checkPhrase, type PhraseFields } from "./check-phrase.ts";
import { foldPhrase } from "./fold-phrase.ts";

const right: PhraseFields = { phrase: "Ása", languageCode: "is-IS", weight: 0, soundsLike: [] };

/** Returns the violations of a phrase as `field: description`. */
function violationsOf(fields: Partial<PhraseFields>): string[] {
  const violations = new Violations();
  checkPhrase({ ...right, ...fields }, "", violations);
  try {
    violations.throwIfAny();
    return [];
  } catch (error) {
    assert.ok(error instanceof ServiceError);
    return error.violations.map(({ field, description }) => `${field}: ${description}`);
  }
}

test("checkPhrase() names every violation", () => {
  const rows: [fields: Partial<PhraseFields>, violations: string[]][] = [
    [{}, []],
    [{ phrase: "" }, ["phrase: is required"]],
    [{ phrase: "  " }, ["phrase: has no letter or digit"]],
    [{ phrase: "–, !" }, ["phrase: has no letter or digit"]],
    [{ phrase: "😀" }, ["phrase: has an emoji, U+1F600", "phrase: has no letter or digit"]],
    [{ phrase: "Ása 🇮🇸" }, ["phrase: has an emoji, U+1F1EE"]],
    [{ phrase: "Ása ☎️" }, ["phrase: has an emoji, U+260E"]],
    [{ phrase: "Ása\u0007" }, ["phrase: has a control character, U+0007"]],
    [{ phrase: "Ása\tJóns" }, ["phrase: has a control character, U+0009"]],
    [{ phrase: "Ása\u202Ex" }, ["phrase: has an invisible character, U+202E"]],
    [{ phrase: "Ása\uD800" }, ["phrase: has invalid Unicode, U+D800"]],
    [{ phrase: "á".repeat(101) }, ["phrase: has 101 characters; at most 100 are allowed"]],
    [{ phrase: "á".repeat(100) }, []],
    // These need a joiner within a word, a sign, and digits.
    [{ phrase: "می\u200Cخواهم" }, []],
    [{ phrase: "Hlust™" }, []],
    [{ phrase: "112" }, []],
    [{ languageCode: "" }, ["languageCode: is required, for example is-IS"]],
    [
      { languageCode: "íslenska" },
      ['languageCode: "íslenska" is not a BCP 47 language code such as is-IS'],
    ],
    [{ weight: -1 }, ["weight: must be 0 to 20, not -1"]],
    [{ weight: Number.NaN }, ["weight: must be 0 to 20, not NaN"]],
    [{ soundsLike: ["asa", "Asa!"] }, ["soundsLike[1]: is the same as soundsLike[0]"]],
    [
      { soundsLike: ["a", "b", "c", "d", "e", "🎉"] },
      [
        "soundsLike: has 6 texts; at most 5 are allowed",
        "soundsLike[5]: has an emoji, U+1F389",
        "soundsLike[5]: has no letter or digit",
      ],
    ],
    [
      { phrase: "", weight: 21, soundsLike: [""] },
      ["phrase: is required", "weight: must be 0 to 20, not 21", "soundsLike[0]: is required"],
    ],
  ];
  for (const [fields, violations] of rows) {
    assert.deepEqual(violationsOf(fields), violations, JSON.stringify(fields));
  }
});

test("checkPhrase() returns the form in which a phrase is stored", () => {
  const sent = { phrase: " Ása   Jóns ", languageCode: "IS-is", weight: 0, soundsLike: [" a  b"] };
  assert.deepEqual(checkPhrase(sent, "", new Violations()), {
    phrase: "Ása Jóns",
    folded: "ása jóns",
    languageCode: "is-IS",
    weight: 10,
    soundsLike: ["a b"],
  });
});

test("foldPhrase() folds what engines do not distinguish to one text", () => {
  const rows: [phrase: string, folded: string][] = [
    ["Jón, Gunna!", "jón gunna"],
    ["JÓN  gunna", "jón gunna"],
    ["Jo\u0301n Gunna", "jón gunna"],
    ["Ring’s End", "ring's end"],
    ["straße", "strasse"],
    ["…", ""],
  ];
  for (const [phrase, folded] of rows) assert.equal(foldPhrase(phrase), folded);
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(foldPhrase(foldPhrase(text)), foldPhrase(text));
    }),
  );
});
