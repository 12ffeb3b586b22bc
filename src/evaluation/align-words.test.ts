import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { alignWords, type Edit } from "./align-words.ts";
import { countCharacterErrors } from "./count-character-errors.ts";

const wordsOf = (text: string): string[] => text.split(" ").filter(Boolean);

/** Returns the edits as letters: s(ame), x (substitution), d(eletion), i(nsertion). */
function lettersOf(edits: readonly Edit[]): string {
  const letters = { same: "s", substitution: "x", deletion: "d", insertion: "i" };
  return edits.map(({ kind }) => letters[kind]).join("");
}

test("alignWords() finds replaced, missing and inserted words", () => {
  const rows: [said: string, recognized: string, edits: string][] = [
    ["", "", ""],
    ["go forward", "go forward", "ss"],
    ["go forward", "", "dd"],
    ["", "go forward", "ii"],
    ["go forward ten meters", "go for ten meters", "sxss"],
    ["go forward ten meters", "go for word ten meters", "sixss"],
    ["a b c d", "b c d", "dsss"],
    ["a b c d", "x a b c d", "issss"],
    // One word that is the same, rather than two that are replaced.
    ["a b", "b c", "dsi"],
  ];
  for (const [said, recognized, edits] of rows) {
    assert.equal(lettersOf(alignWords(wordsOf(said), wordsOf(recognized))), edits, recognized);
  }
});

/** Returns the distance by the definition, which takes exponential time without the memory. */
function naiveDistance(one: readonly string[], other: readonly string[]): number {
  const known = new Map<string, number>();
  const from = (at: number, otherAt: number): number => {
    const key = `${at} ${otherAt}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    let result: number;
    if (at === one.length || otherAt === other.length) {
      result = one.length - at + other.length - otherAt;
    } else {
      const isSame = one[at] === other[otherAt];
      result = Math.min(
        from(at + 1, otherAt + 1) + (isSame ? 0 : 1),
        from(at + 1, otherAt) + 1,
        from(at, otherAt + 1) + 1,
      );
    }
    known.set(key, result);
    return result;
  };
  return from(0, 0);
}

const fewWords = fc.array(fc.constantFrom("a", "b", "c", "d", "þ"), { maxLength: 12 });

function countsOf(edits: readonly Edit[]): Record<Edit["kind"], number> {
  const counts = { same: 0, substitution: 0, deletion: 0, insertion: 0 };
  for (const { kind } of edits) counts[kind] += 1;
  return counts;
}

test("an alignment has as few errors as the definition allows, and uses each word once", () => {
  fc.assert(
    fc.property(fewWords, fewWords, (said, recognized) => {
      const edits = alignWords(said, recognized);
      const errors = edits.filter(({ kind }) => kind !== "same").length;
      assert.equal(errors, naiveDistance(said, recognized));
      const saidOrder = edits.flatMap((edit) => ("said" in edit ? [edit.said] : []));
      const order = edits.flatMap((edit) => ("recognized" in edit ? [edit.recognized] : []));
      assert.deepEqual(saidOrder, [...said.keys()]);
      assert.deepEqual(order, [...recognized.keys()]);
      for (const edit of edits) {
        if (edit.kind === "same" || edit.kind === "substitution") {
          assert.equal(said[edit.said] === recognized[edit.recognized], edit.kind === "same");
        }
      }
    }),
    { numRuns: runs(1000) },
  );
});

test("the counts are the same in the other direction, with insertions for deletions", () => {
  fc.assert(
    fc.property(fewWords, fewWords, (said, recognized) => {
      const { same, substitution, deletion, insertion } = countsOf(alignWords(said, recognized));
      assert.deepEqual(countsOf(alignWords(recognized, said)), {
        same,
        substitution,
        deletion: insertion,
        insertion: deletion,
      });
    }),
    { numRuns: runs(1000) },
  );
});

test("long texts, whose tables are halved, have the same counts as by rows", () => {
  const words = Array.from({ length: 6_000 }, (_, at) => `w${(at * 7919) % 97}`);
  // Every 10th word is replaced, every 15th is missing, one is added after every 40th, and 900
  // words in a row are missing.
  const recognized = words.flatMap((word, at) => {
    if (at >= 100 && at < 1000) return [];
    if (at % 15 === 3) return [];
    if (at % 10 === 0) return ["other"];
    return at % 40 === 39 ? [word, "more"] : [word];
  });
  const errors = alignWords(words, recognized).filter(({ kind }) => kind !== "same").length;
  const letters = new Map([...new Set([...words, ...recognized])].map((word, at) => [word, at]));
  const asText = (each: readonly string[]): string =>
    each.map((word) => String.fromCodePoint(0x4e00 + (letters.get(word) ?? 0))).join("");
  assert.equal(errors, countCharacterErrors(asText(words), asText(recognized)));
});

test("countCharacterErrors() counts code points", () => {
  const rows: [said: string, recognized: string, errors: number][] = [
    ["", "", 0],
    ["þögn", "þögn", 0],
    ["þögn", "þorn", 2],
    ["abc", "", 3],
    ["", "abc", 3],
    ["😀a", "a", 1],
    ["sitting", "kitten", 3],
  ];
  for (const [said, recognized, errors] of rows) {
    assert.equal(countCharacterErrors(said, recognized), errors, recognized);
  }
});

/** Texts of up to 100 letters, since 32 rows of the table are computed at a time. */
const fewLetters = fc.array(fc.constantFrom("a", "b", "c", "þ"), { maxLength: 100 });

test("countCharacterErrors() has the result of the definition", () => {
  fc.assert(
    fc.property(fewLetters, fewLetters, (said, recognized) => {
      const errors = countCharacterErrors(said.join(""), recognized.join(""));
      assert.equal(errors, naiveDistance(said, recognized));
    }),
    { numRuns: runs(400) },
  );
});
