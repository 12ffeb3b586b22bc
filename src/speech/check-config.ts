import { knownLanguageCode } from "../std/language-code.ts";
import type { PhraseHints, RecognitionMode } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { Violations } from "../std/service-error.ts";
import { shown } from "../std/service-error.ts";
import {
  RecognitionConfig_AudioEncoding,
  type RecognitionConfig,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";

/** The bounds of sampleRateHertz in both recognition modes (§8). */
export const sampleRateHertzMin = 8_000;
export const sampleRateHertzMax = 48_000;
/** The maximum value of maxAlternatives in both recognition modes (§8). */
export const alternativesMaxMax = 10;

/**
 * The maximum number of phrases in all hints of a call, of characters in a phrase, and the maximum
 * boost of a phrase (docs/api.md, Speech).
 */
export const hintPhrasesMax = 500;
export const hintCharsMax = 100;
export const hintBoostMax = 20;
const hintBoostDefault = 10;

/** A configuration that can be served. */
export interface CheckedConfig {
  readonly languageCode: string;
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly withWords: boolean;
  readonly punctuation: boolean;
  /** The hints; absent if there are none or they are ignored. */
  readonly hints?: readonly PhraseHints[];
}

/** The recognizer and mode for which a configuration is checked. */
export interface ConfigContext {
  readonly recognizer: Recognizer;
  readonly mode: RecognitionMode;
  /**
   * Whether hints that the model cannot use are ignored. Clients of google.cloud.speech.v1 send
   * hints to any model.
   */
  readonly ignoresHints: boolean;
}

/**
 * Checks the RecognitionConfig at `path` (§2.4 and §8) and adds every violation. The result is
 * valid only if there are no violations.
 */
export function checkConfig(
  config: RecognitionConfig | undefined,
  path: string,
  context: ConfigContext,
  violations: Violations,
): CheckedConfig {
  if (!config) violations.add(path, "is required");
  const { encoding = 0, sampleRateHertz = 0, maxAlternatives = 0 } = config ?? {};
  const languageCode = languageOf(config, context);
  if (config) {
    checkEncoding(encoding, `${path}.encoding`, violations);
    if (sampleRateHertz === 0) {
      violations.add(`${path}.sampleRateHertz`, "is required: 8000 to 48000");
    } else if (sampleRateHertz < sampleRateHertzMin || sampleRateHertz > sampleRateHertzMax) {
      violations.add(`${path}.sampleRateHertz`, `must be 8000 to 48000, not ${sampleRateHertz}`);
    }
    const { recognizer, mode } = context;
    checkLanguage(languageCode, `${path}.languageCode`, recognizer.languageCodes(mode), violations);
    if (maxAlternatives < 0 || maxAlternatives > alternativesMaxMax) {
      violations.add(`${path}.maxAlternatives`, `must be 1 to 10, not ${maxAlternatives}`);
    }
  }
  return {
    languageCode,
    sampleRateHertz,
    alternativesMax: maxAlternatives === 0 ? 1 : maxAlternatives,
    withWords: config?.enableWordTimeOffsets ?? false,
    punctuation: config?.enableAutomaticPunctuation ?? false,
    ...checkHints(config, path, context, violations),
  };
}

/** Returns the code of the language as its model has it: callers may use any letter case. */
function languageOf(
  config: RecognitionConfig | undefined,
  { recognizer, mode }: ConfigContext,
): string {
  return knownLanguageCode(config?.languageCode ?? "", recognizer.languageCodes(mode));
}

function checkHints(
  config: RecognitionConfig | undefined,
  path: string,
  context: ConfigContext,
  violations: Violations,
): Pick<CheckedConfig, "hints"> {
  const { recognizer, mode, ignoresHints } = context;
  const { speechContexts = [] } = config ?? {};
  const languageCode = languageOf(config, context);
  const field = `${path}.speechContexts`;
  const count = speechContexts.reduce((sum, { phrases }) => sum + phrases.length, 0);
  if (count > hintPhrasesMax) {
    violations.add(field, `has ${count} phrases; at most ${hintPhrasesMax} are allowed`);
    return {};
  }
  for (const [index, { phrases, boost }] of speechContexts.entries()) {
    if (!(boost >= 0 && boost <= hintBoostMax)) {
      violations.add(`${field}[${index}].boost`, `must be 0 to ${hintBoostMax}, not ${boost}`);
    }
    for (const [at, phrase] of phrases.entries()) {
      const place = `${field}[${index}].phrases[${at}]`;
      if (!/[\p{L}\p{N}]/u.test(phrase)) violations.add(place, "has no letter or digit");
      else if (phrase.length > hintCharsMax) {
        violations.add(
          place,
          `has ${phrase.length} characters; at most ${hintCharsMax} are allowed`,
        );
      }
    }
  }
  if (count === 0) return {};
  if (!recognizer.takesHints(languageCode, mode)) {
    const isServed = recognizer.languageCodes(mode).includes(languageCode);
    if (isServed && !ignoresHints) {
      violations.add(field, `cannot be used by the model of ${languageCode}`);
    }
    return {};
  }
  const hints = speechContexts.map(({ phrases, boost }) => ({
    phrases,
    boost: boost === 0 ? hintBoostDefault : boost,
  }));
  return { hints };
}

function checkEncoding(encoding: number, field: string, violations: Violations): void {
  if (encoding === RecognitionConfig_AudioEncoding.LINEAR16) return;
  if (encoding === RecognitionConfig_AudioEncoding.ENCODING_UNSPECIFIED) {
    violations.add(field, "is required: LINEAR16");
    return;
  }
  const name = Object.entries(RecognitionConfig_AudioEncoding).find(
    ([, value]) => value === encoding,
  );
  violations.add(field, `must be LINEAR16, not ${name?.[0] ?? encoding}`);
}

function checkLanguage(
  code: string,
  field: string,
  installed: readonly string[],
  violations: Violations,
): void {
  if (installed.includes(code)) return;
  const choices = `installed: ${installed.join(", ")}`;
  const problem = code === "" ? "is required" : `is ${shown(code)}, which has no installed model`;
  violations.add(field, `${problem}; ${choices}`);
}
