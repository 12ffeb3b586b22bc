import type { Violations } from "../std/service-error.ts";
import { shown } from "../std/service-error.ts";
import {
  RecognitionConfig_AudioEncoding,
  type RecognitionConfig,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";

/** §8: sampleRateHertz of both recognition modes. */
export const sampleRateHertzMin = 8_000;
export const sampleRateHertzMax = 48_000;
/** §8: maxAlternatives of both recognition modes. */
export const alternativesMaxMax = 10;

/** A configuration that can be served. */
export interface CheckedConfig {
  readonly languageCode: string;
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly withWords: boolean;
}

/**
 * Checks a RecognitionConfig at `path` (sections 2.4 and 8) and adds every violation; the result counts only without any.
 * `languageCodes` are those of the installed models.
 */
export function checkConfig(
  config: RecognitionConfig | undefined,
  path: string,
  languageCodes: readonly string[],
  violations: Violations,
): CheckedConfig {
  if (!config) violations.add(path, "is required");
  const {
    encoding = 0,
    sampleRateHertz = 0,
    languageCode = "",
    maxAlternatives = 0,
  } = config ?? {};
  if (config) {
    checkEncoding(encoding, `${path}.encoding`, violations);
    if (sampleRateHertz === 0) {
      violations.add(`${path}.sampleRateHertz`, "is required: 8000 to 48000");
    } else if (sampleRateHertz < sampleRateHertzMin || sampleRateHertz > sampleRateHertzMax) {
      violations.add(`${path}.sampleRateHertz`, `is ${sampleRateHertz}: 8000 to 48000 is accepted`);
    }
    checkLanguage(languageCode, `${path}.languageCode`, languageCodes, violations);
    if (maxAlternatives < 0 || maxAlternatives > alternativesMaxMax) {
      violations.add(`${path}.maxAlternatives`, `is ${maxAlternatives}: 1 to 10 is accepted`);
    }
  }
  return {
    languageCode,
    sampleRateHertz,
    alternativesMax: maxAlternatives === 0 ? 1 : maxAlternatives,
    withWords: config?.enableWordTimeOffsets ?? false,
  };
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
  violations.add(field, `is ${name?.[0] ?? encoding}: only LINEAR16 is accepted`);
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
