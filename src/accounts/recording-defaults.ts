import { fromJsonString, toJsonString } from "@bufbuild/protobuf";
import { checkSpeakerCounts } from "../engines/protocol/check-speakers.ts";
import { hintPhrasesMax, phraseProblem } from "../engines/protocol/check-hints.ts";
import { foldedWords } from "../engines/protocol/hint-words.ts";
import {
  RecordingDefaultsSchema,
  type RecordingDefaults,
} from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { languageCodePattern } from "../std/language-code.ts";
import { shown, type Violations } from "../std/service-error.ts";

/** The maximum lengths in characters. */
export const languageCodeCharsMax = 100;
export const modelCharsMax = 200;
const field = "recordingDefaults";

/**
 * Checks the defaults for new recordings, and adds every violation. What is installed is not
 * checked, since it may change at any time.
 */
export function checkDefaults(
  { languageCode, model, diarizationConfig, phrases }: RecordingDefaults,
  violations: Violations,
): void {
  if (languageCode !== "" && !isLanguageCode(languageCode)) {
    const problem = `is ${shown(languageCode)}, which is not a BCP 47 code such as is-IS`;
    violations.add(`${field}.languageCode`, problem);
  }
  if (Array.from(model).length > modelCharsMax) {
    const problem = `has ${Array.from(model).length} characters; at most ${modelCharsMax} are allowed`;
    violations.add(`${field}.model`, problem);
  } else if (/\p{Cc}/u.test(model)) {
    violations.add(`${field}.model`, "has a control character");
  } else if (model !== "" && languageCode === "") {
    violations.add(`${field}.languageCode`, "is required with model");
  }
  if (diarizationConfig) {
    checkSpeakerCounts(diarizationConfig, `${field}.diarizationConfig`, violations);
  }
  checkPhrases(phrases, `${field}.phrases`, violations);
}

function isLanguageCode(code: string): boolean {
  return code.length <= languageCodeCharsMax && languageCodePattern.test(code);
}

function checkPhrases(phrases: readonly string[], path: string, violations: Violations): void {
  if (phrases.length > hintPhrasesMax) {
    const problem = `has ${phrases.length} phrases; at most ${hintPhrasesMax} are allowed`;
    violations.add(path, problem);
    return;
  }
  const places = new Map<string, string>();
  for (const [at, phrase] of phrases.entries()) {
    const place = `${path}[${at}]`;
    const words = foldedWords(phrase).join(" ");
    const earlier = places.get(words);
    const problem = phraseProblem(phrase);
    if (problem !== undefined) violations.add(place, problem);
    else if (earlier === undefined) places.set(words, place);
    else violations.add(place, `is ${shown(phrase)}, which ${earlier} has already`);
  }
}

/** Returns defaults as the column stores them; null if nothing is set. */
export function storedDefaults(defaults: RecordingDefaults): string | null {
  const { languageCode, model, diarizationConfig, phrases, wordsAsSpoken } = defaults;
  const texts = [languageCode, model, ...phrases];
  const isSet = wordsAsSpoken || diarizationConfig || texts.some((text) => text !== "");
  return isSet ? toJsonString(RecordingDefaultsSchema, defaults) : null;
}

/** Reads defaults as storedDefaults() returns them, parsed; undefined if nothing is set. */
export function readDefaults(
  stored: Readonly<Record<string, unknown>> | null,
): RecordingDefaults | undefined {
  if (stored === null) return undefined;
  const json = JSON.stringify(stored);
  return fromJsonString(RecordingDefaultsSchema, json, { ignoreUnknownFields: true });
}
