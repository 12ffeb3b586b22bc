import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChoosableModel, chooseModel, servedLanguages, unmetChoices } from "./choose-model.ts";
import type { ModelChoice } from "../../models/model-choice.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

const model = (
  name: string,
  preference: number,
  languageCodes: readonly string[],
  uses: readonly RecognitionMode[] = ["live", "short", "job"],
): ChoosableModel => ({ name, preference, languageCodes, uses });

const starter = model("starter", 0, ["is-IS"]);
const whisper = model("whisper", 40, ["is-IS", "en-US", "is-IS-x-exp"], ["short", "job"]);
const parakeet = model("parakeet", 60, ["en-US"], ["short", "job"]);
const zipformer = model("zipformer", 50, ["en-US"]);
const twin = model("a-twin", 50, ["en-US"], ["live"]);
const all = [starter, whisper, parakeet, zipformer, twin];

const choiceOf = (...entries: string[]): ModelChoice =>
  entries.map((entry) => {
    const [, languageCode = "", use, name = ""] = /^([^:=]+)(?::(\w+))?=(.+)$/.exec(entry) ?? [];
    const mode = (["live", "short", "job"] as const).find((each) => each === use);
    return { languageCode, use: mode, model: name };
  });

test("chooseModel() returns the chosen model, or the best model for the use", () => {
  const rows: [string, RecognitionMode, readonly string[], string | undefined][] = [
    ["is-IS", "live", [], "starter"],
    ["is-IS", "short", [], "whisper"],
    ["is-IS", "job", [], "whisper"],
    ["en-US", "job", [], "parakeet"],
    ["en-US", "live", [], "a-twin"],
    ["fo-FO", "live", [], undefined],
    ["is-IS-x-exp", "job", [], "whisper"],
    ["is-IS-x-exp", "live", [], undefined],
    ["is-IS", "job", ["is-IS=starter"], "starter"],
    ["is-IS", "live", ["is-IS=whisper"], "whisper"],
    ["is-IS", "live", ["is-IS:live=whisper"], "whisper"],
    ["is-IS", "short", ["is-IS:live=whisper", "is-IS:short=starter"], "starter"],
    ["is-IS", "job", ["is-IS=whisper", "is-IS:job=starter"], "starter"],
    ["en-US", "job", ["is-IS=starter"], "parakeet"],
    ["en-US", "job", ["en-US=starter"], "parakeet"],
    ["en-US", "job", ["en-US=gone"], "parakeet"],
    ["en-US", "job", ["en-US:job=gone", "en-US=zipformer"], "zipformer"],
  ];
  for (const [languageCode, mode, chosen, expected] of rows) {
    const found = chooseModel(all, { languageCode, mode }, choiceOf(...chosen));
    assert.equal(found?.name, expected, `${languageCode} ${mode} ${chosen.join()}`);
    const reversed = chooseModel(all.toReversed(), { languageCode, mode }, choiceOf(...chosen));
    assert.equal(reversed, found, "whatever the order of the models");
  }
});

test("servedLanguages() returns the languages that some model serves in a given mode", () => {
  assert.deepEqual(servedLanguages(all, "live", []), ["en-US", "is-IS"]);
  assert.deepEqual(servedLanguages(all, "job", []), ["en-US", "is-IS", "is-IS-x-exp"]);
  const chosen = choiceOf("is-IS-x-exp:live=whisper");
  assert.deepEqual(servedLanguages(all, "live", chosen), ["en-US", "is-IS", "is-IS-x-exp"]);
  assert.deepEqual(servedLanguages([], "job", chosen), []);
});

test("unmetChoices() describes choices that no model meets", () => {
  const chosen = choiceOf("is-IS=starter", "en-US:live=starter", "is-IS:job=gone");
  assert.deepEqual(unmetChoices(all, chosen), [
    "starter does not recognize en-US",
    "gone is not installed",
  ]);
});
