import assert from "node:assert/strict";
import { test } from "node:test";
import { Violations } from "../std/service-error.ts";
import { languageOf, nameOf, primaryOf } from "./language-of.ts";

const installed = ["en-GB", "en-US", "is-IS", "pt-BR"];

function read(wanted: string, defaultLanguage?: string, from: readonly string[] = installed) {
  const violations = new Violations();
  const recognizer = { languageCodes: () => from, checkModelsKnown() {} };
  const choice = { recognizer, mode: "live", defaultLanguage } as const;
  const found = languageOf(wanted, "language", choice, violations);
  return violations.isEmpty ? found : violations.all[0]?.description;
}

test("languageOf() understands codes and English names", () => {
  const rows = [
    ["is-IS", "is-IS"],
    ["is", "is-IS"],
    ["IS-is", "is-IS"],
    ["is_IS", "is-IS"],
    ["is-XX", "is-IS"],
    [" Icelandic ", "is-IS"],
    ["portuguese", "pt-BR"],
    ["pt", "pt-BR"],
    ["en", "en-GB"],
    ["english", "en-GB"],
    ["en-US", "en-US"],
  ] as const;
  for (const [wanted, code] of rows) assert.equal(read(wanted), code, wanted);
});

test("languageOf() prefers the default of several installed variants", () => {
  assert.equal(read("en", "en-US"), "en-US");
  assert.equal(read("english", "en-US"), "en-US");
  assert.equal(read("en-GB", "en-US"), "en-GB");
});

test("languageOf() takes the default, or the only installed language, without a language", () => {
  for (const wanted of ["", " ", "auto", "Detect", "null"]) {
    assert.equal(read(wanted, "is-IS"), "is-IS");
    assert.equal(read(wanted, undefined, ["is-IS"]), "is-IS");
  }
});

test("languageOf() names the installed languages if there is none to take", () => {
  const all = "installed: en-GB, en-US, is-IS, pt-BR";
  assert.equal(read(""), `is required: ${all}`);
  assert.equal(read("", "fr-FR"), `is required: ${all}`);
  assert.equal(read("fr"), `is "fr", which has no installed model; ${all}`);
  assert.equal(read("", undefined, []), "is required: installed: none");
});

test("nameOf() and primaryOf() are as Whisper names languages", () => {
  assert.equal(nameOf("is-IS"), "icelandic");
  assert.equal(nameOf("en-US"), "english");
  assert.equal(primaryOf("is-IS"), "is");
});
