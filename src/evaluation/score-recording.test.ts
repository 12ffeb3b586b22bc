import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { runs } from "../../test/fixtures/property-runs.ts";
import { countConfusions } from "./count-confusions.ts";
import { normalizations, sourceWords } from "./normalization/normalize-words.ts";
import { scoreRecording, totalWordErrors } from "./score-recording.ts";

/** Returns the recognized words of a text, each of 400 ms, with 100 ms between them. */
function spoken(text: string) {
  return sourceWords(text).map((word, at) => ({
    text: word,
    startMs: 500 * at,
    endMs: 500 * at + 400,
  }));
}

function score(text: string, recognized: string, languageCode = "en-US") {
  const words = spoken(recognized);
  const durationMs = 500 * words.length + 1000;
  return scoreRecording({ text, languageCode, recognized: words, durationMs }, "standard");
}

test("scoreRecording() counts words, characters and each kind of error", () => {
  const { words, characters } = score("The cat sat on the mat.", "the hat sat the big mat");
  assert.deepEqual(words, { length: 6, errors: 3, substitutions: 1, deletions: 1, insertions: 1 });
  assert.deepEqual(characters, { length: 22, errors: 7 });
});

test("an identical text has no errors, whatever the normalization", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.constantFrom(...normalizations),
      fc.constantFrom("en-US", "is-IS", "ja-JP", "fr-FR"),
      (text, normalization, languageCode) => {
        const recognized = spoken(text);
        const scored = scoreRecording(
          { text, languageCode, recognized, durationMs: 60_000 },
          normalization,
        );
        assert.equal(scored.words.errors, 0);
        assert.equal(scored.characters.errors, 0);
        assert.deepEqual(scored.differences, []);
      },
    ),
    { numRuns: runs(400) },
  );
});

test("a text with other spelling, punctuation and digits has no errors", () => {
  assert.equal(score("Twenty-one people won't come.", "21 people will not come").words.errors, 0);
  const icelandic = score("Tvö hundruð og fimmtíu krónur.", "250 kr.", "is-IS");
  assert.deepEqual([icelandic.words.errors, icelandic.words.length], [0, 2]);
});

test("differences have their words and their place in the recording", () => {
  const { differences } = score("one day the cat sat on a mat", "one day a hat sat on a big mat");
  assert.deepEqual(
    differences.map(({ said, recognized, startMs, endMs }) => ({
      said: said.join(" "),
      recognized: recognized.join(" "),
      startMs,
      endMs,
    })),
    [
      { said: "the cat", recognized: "a hat", startMs: 1000, endMs: 1900 },
      { said: "", recognized: "big", startMs: 3500, endMs: 3900 },
    ],
  );
});

test("missing words are between the recognized words around them", () => {
  const [first, second] = score("so it was not good today", "it was good").differences;
  assert.deepEqual([first?.startMs, first?.endMs], [0, 0]);
  assert.deepEqual([second?.said, second?.startMs, second?.endMs], [["not"], 900, 1000]);
  // One word for two: the sound is from the end of "it" to the start of "good".
  const [part] = score("it was not good", "it wasn good").differences;
  assert.deepEqual([part?.said, part?.startMs, part?.endMs], [["was", "not"], 400, 1000]);
  const [all] = score("nothing was recognized", "").differences;
  assert.deepEqual([all?.startMs, all?.endMs], [0, 1000]);
});

test("a number of several words has the times of all of them", () => {
  const [difference] = score("it is 206 now", "it is two hundred and five now").differences;
  assert.deepEqual(difference?.recognized, ["205"]);
  assert.deepEqual([difference.startMs, difference.endMs], [1000, 2900]);
});

test("countConfusions() returns the most frequent errors, and ties in alphabetical order", () => {
  const scores = [
    score("the cat and the dog", "a cat and a dog"),
    score("the hat", "a cat"),
    score("so it is", "it is is"),
  ];
  assert.deepEqual(countConfusions(scores, 3), [
    { said: "the", recognized: "a", count: 3 },
    { said: "", recognized: "is", count: 1 },
    { said: "hat", recognized: "cat", count: 1 },
  ]);
});

test("totalWordErrors() adds the counts of recordings", () => {
  const counts = [score("a b c", "a x c d"), score("d", "")].map(({ words }) => words);
  assert.deepEqual(totalWordErrors(counts), {
    length: 4,
    errors: 3,
    substitutions: 1,
    deletions: 1,
    insertions: 1,
  });
});
