// The console's texts for the service's English messages about phrases of the vocabulary, in both
// languages.
import assert from "node:assert/strict";
import { test } from "node:test";
import { hintViolationText } from "../../src/console/text/hint-violations.ts";
import { phraseViolationText } from "../../src/console/text/phrase-violations.ts";
import { checkHints } from "../../src/engines/protocol/check-hints.ts";
import { Violations } from "../../src/std/service-error.ts";
import { checkPhrase } from "../../src/vocabulary/check-phrase.ts";

test("every violation of a phrase has a text of the console in both languages", () => {
  const good = { phrase: "Ásbyrgi", languageCode: "is-IS", weight: 10, soundsLike: [] };
  const texts = ["", "x".repeat(101), "a\u0007b", "a\u2060b", "a\ud83cb", "Ásbyrgi 🏔️", "---"];
  const rows = [
    ...texts.map((phrase) => ({ ...good, phrase })),
    { ...good, weight: 21 },
    { ...good, weight: NaN },
    { ...good, languageCode: "" },
    { ...good, languageCode: "í íslensku" },
    { ...good, soundsLike: ["ás birgi", "Ás birgi"] },
    { ...good, soundsLike: ["a", "b", "c", "d", "e", "f"] },
    { ...good, soundsLike: ["🏔️ a"] },
  ];
  const violations = new Violations();
  for (const row of rows) checkPhrase(row, "phrases[0].", violations);
  // These come from the database, and from the number of phrases.
  for (const description of [
    "is the same as phrases[3]",
    "is in the vocabulary already",
    "is in the vocabulary already: accept, change or delete that phrase",
    "at least one is required",
    "has 5001 phrases; at most 5000 are allowed",
  ]) {
    violations.add("phrases", description);
  }
  assert.ok(violations.all.length >= rows.length + 5);
  for (const { field, description } of violations.all) {
    const { is, en, detail } = phraseViolationText({ description });
    assert.equal(detail, undefined, description);
    assert.notEqual(is, en, `${field} ${description}`);
    assert.notEqual(is, description);
    assert.match(is, /^\p{Lu}.*\.$/u);
    assert.match(en, /^[\p{Lu}\d].*\.$/u);
  }
  assert.deepEqual(phraseViolationText({ description: "of a later version" }), {
    is: "Þjónustan tók ekki við þessu.",
    en: "The service did not accept this.",
    detail: "of a later version",
  });
});

test("every violation of words to expect has a text of the console in both languages", () => {
  const violations = new Violations();
  const use = { languageCode: "is-IS", mode: "job", ignoresUnsupported: false } as const;
  const check = (phrases: readonly string[], takesHints: boolean): void => {
    const recognizer = { takesHints: () => takesHints, languageCodes: () => ["is-IS"] };
    const contexts = [{ phrases: [...phrases], boost: 0 }];
    checkHints(contexts, "speechContexts", { ...use, recognizer }, violations);
  };
  check(["x".repeat(101), "a\u0007b", "---", "Ásbyrgi", "ásbyrgi"], true);
  check(
    Array.from({ length: 501 }, (_, at) => `orð ${at}`),
    true,
  );
  check(["Ásbyrgi"], false);
  assert.equal(violations.all.length, 6);
  for (const { description } of violations.all) {
    const { is, en, detail } = hintViolationText({ description });
    assert.equal(detail, undefined, description);
    assert.notEqual(is, en, description);
    assert.match(is, /^\p{Lu}.*\.$/u);
    assert.match(en, /^[\p{Lu}\d].*\.$/u);
  }
});
