import assert from "node:assert/strict";
import { test } from "node:test";
import { Violations } from "../../std/service-error.ts";
import { checkHints, type PhraseContext } from "./check-hints.ts";

function checked(contexts: readonly PhraseContext[], changes: { takesHints?: boolean } = {}) {
  const violations = new Violations();
  const takesHints = changes.takesHints ?? true;
  const use = {
    recognizer: { languageCodes: () => ["en-US"], takesHints: () => takesHints },
    languageCode: "en-US",
    mode: "job",
    ignoresUnsupported: false,
  } as const;
  const hints = checkHints(contexts, "hints", use, violations);
  const named = violations.all.map(({ field, description }) => `${field} ${description}`);
  return { hints, named, google: ignored(contexts, use) };
}

/** The violations for a client of google.cloud.speech.v1. */
function ignored(
  contexts: readonly PhraseContext[],
  use: Omit<Parameters<typeof checkHints>[2], "ignoresUnsupported">,
): number {
  const violations = new Violations();
  checkHints(contexts, "hints", { ...use, ignoresUnsupported: true }, violations);
  return violations.all.length;
}

test("checkHints() returns each phrase with its boost, 10 if it is 0", () => {
  const { hints, named } = checked([
    { phrases: ["Anna", "C++"], boost: 0 },
    { phrases: ["x".repeat(100)], boost: 20 },
  ]);
  assert.deepEqual(named, []);
  assert.deepEqual(hints, [
    { phrase: "Anna", boost: 10 },
    { phrase: "C++", boost: 10 },
    { phrase: "x".repeat(100), boost: 20 },
  ]);
  assert.equal(checked([]).hints, undefined);
  assert.equal(checked([{ phrases: [], boost: 5 }]).hints, undefined);
});

test("checkHints() returns the texts that one phrase sounds like", () => {
  const { hints, named } = checked([
    { phrases: ["Siobhan"], boost: 0, soundsLike: ["shivawn", "shi von"] },
    { phrases: ["Anna"], boost: 5, soundsLike: [] },
  ]);
  assert.deepEqual(named, []);
  assert.deepEqual(hints, [
    { phrase: "Siobhan", boost: 10, soundsLike: ["shivawn", "shi von"] },
    { phrase: "Anna", boost: 5 },
  ]);
  const wrong = checked([
    { phrases: ["Anna", "Ben"], boost: 0, soundsLike: ["anna"] },
    { phrases: [], boost: 0, soundsLike: ["anna"] },
    { phrases: ["Cleo"], boost: 0, soundsLike: ["", "klee oh", "Klee oh!", "a\u0000", "x", "y"] },
  ]);
  assert.deepEqual(wrong.named, [
    "hints[0].soundsLike needs exactly one phrase, not 2",
    "hints[1].soundsLike needs exactly one phrase, not 0",
    "hints[2].soundsLike has 6 texts; at most 5 are allowed",
    "hints[2].soundsLike[0] has no letter or digit",
    "hints[2].soundsLike[2] is the same as soundsLike[1]",
    "hints[2].soundsLike[3] has a control character",
  ]);
});

test("checkHints() names every violation at once", () => {
  const many = Array.from({ length: 500 }, (_, at) => `word ${at}`);
  const { named } = checked([
    {
      phrases: ["", "😀😀", "a\u0000b", "two\nlines", "x".repeat(101), "Anna", "anna!"],
      boost: 21,
    },
    { phrases: [...many, "ANNA"], boost: Number.NaN },
  ]);
  assert.deepEqual(named, [
    "hints has 508 phrases; at most 500 are allowed",
    "hints[0].boost must be 0 to 20, not 21",
    "hints[0].phrases[0] has no letter or digit",
    "hints[0].phrases[1] has no letter or digit",
    "hints[0].phrases[2] has a control character",
    "hints[0].phrases[3] has a control character",
    "hints[0].phrases[4] has 101 characters; at most 100 are allowed",
    'hints[0].phrases[6] is "anna!", which hints[0].phrases[5] has already',
    "hints[1].boost must be 0 to 20, not NaN",
    'hints[1].phrases[500] is "ANNA", which hints[0].phrases[5] has already',
  ]);
});

test("checkHints() refuses hints that the model cannot use, except for Google's clients", () => {
  const contexts = [{ phrases: ["Anna", "Anna"], boost: 0 }];
  const { hints, named, google } = checked(contexts, { takesHints: false });
  assert.equal(hints, undefined);
  assert.deepEqual(named, [
    'hints[0].phrases[1] is "Anna", which hints[0].phrases[0] has already',
    "hints cannot be used by the model of en-US",
  ]);
  assert.equal(google, 0);
});
