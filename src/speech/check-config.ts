import type { BarePcm } from "../audio/pcm-stream.ts";
import { resampledRate } from "../audio/resample.ts";
import { knownLanguageCode } from "../std/language-code.ts";
import { checkHints } from "../engines/protocol/check-hints.ts";
import { checkSpeakerCounts } from "../engines/protocol/check-speakers.ts";
import type { Hint, RecognitionMode } from "../engines/protocol/engine.ts";
import type { Recognizer } from "../engines/protocol/recognizer.ts";
import type { ContainerEncoding } from "./container-format.ts";
import type { Violations } from "../std/service-error.ts";
import type { WritingOptions } from "../writing/write-words.ts";
import { shown } from "../std/service-error.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type RecognitionConfig,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";

/** How audio is encoded: as samples that this process decodes, or in a form that is decoded. */
export type AudioForm =
  | ({ readonly kind: "bare" } & Pick<BarePcm, "encoding" | "channels">)
  | { readonly kind: "container"; readonly encoding: ContainerEncoding };

const forms: ReadonlyMap<number, AudioForm> = new Map<number, AudioForm>([
  [Encoding.ENCODING_UNSPECIFIED, { kind: "container", encoding: "ENCODING_UNSPECIFIED" }],
  [Encoding.LINEAR16, { kind: "bare", encoding: "s16" }],
  [Encoding.MULAW, { kind: "bare", encoding: "mulaw" }],
  [Encoding.ALAW, { kind: "bare", encoding: "alaw" }],
  [Encoding.FLAC, { kind: "container", encoding: "FLAC" }],
  [Encoding.OGG_OPUS, { kind: "container", encoding: "OGG_OPUS" }],
  [Encoding.MP3, { kind: "container", encoding: "MP3" }],
  [Encoding.GUESS, { kind: "container", encoding: "GUESS" }],
]);

/** The names of the encodings, as the contract lists them. */
export const encodings = [
  "ENCODING_UNSPECIFIED",
  ...(["LINEAR16", "FLAC", "MULAW", "OGG_OPUS", "MP3", "GUESS", "ALAW"] as const),
] as const;
const encodingNames = `${encodings.slice(1, -1).join(", ")} or ${encodings.at(-1) ?? ""}`;
/** Encodings of google.cloud.speech.v1 that are not supported. */
const foreignNames: Readonly<Record<number, string>> = {
  4: "AMR (4)",
  5: "AMR_WB (5)",
  7: "SPEEX_WITH_HEADER_BYTE (7)",
};

/** The bounds of sampleRateHertz in both recognition modes (§8). */
const sampleRateHertzMin = 8_000;
export const sampleRateHertzMax = 48_000;
/** The maximum value of maxAlternatives in both recognition modes (§8). */
export const alternativesMaxMax = 30;

/** A configuration that can be served. */
export interface CheckedConfig {
  readonly languageCode: string;
  readonly form: AudioForm;
  /** The sample rate at which the audio is recognized. */
  readonly sampleRateHertz: number;
  readonly alternativesMax: number;
  readonly withWords: boolean;
  readonly punctuation: boolean;
  /** How the recognized words are written. */
  readonly writing: WritingOptions;
  /** The hints; absent if there are none or they are ignored. */
  readonly hints?: readonly Hint[];
  /** Whether the account's vocabulary is used after the hints. */
  readonly usesVocabulary: boolean;
  /** The maximum number of speakers to distinguish; absent if speakers are not requested. */
  readonly speakersMax?: number;
}

/** The recognizer and mode for which a configuration is checked. */
export interface ConfigContext {
  readonly recognizer: Recognizer;
  readonly mode: RecognitionMode;
  /**
   * Whether hints that the model cannot use are ignored, and speakers that cannot be distinguished.
   * Clients of google.cloud.speech.v1 ask any model for both.
   */
  readonly ignoresUnsupported: boolean;
}

/**
 * Checks the RecognitionConfig at `path` (§2.4 and §8) and adds every violation. The result is
 * valid only if there are no violations. Throws unavailable if what it asks for may be on an engine
 * node whose models are not known.
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
  const form = forms.get(encoding) ?? { kind: "bare", encoding: "s16" };
  if (config) {
    checkEncoding(encoding, `${path}.encoding`, violations);
    checkRate(sampleRateHertz, form, `${path}.sampleRateHertz`, violations);
    const { recognizer, mode } = context;
    checkLanguage(languageCode, `${path}.languageCode`, { recognizer, mode }, violations);
    if (maxAlternatives < 0 || maxAlternatives > alternativesMaxMax) {
      violations.add(
        `${path}.maxAlternatives`,
        `must be 0 to ${alternativesMaxMax}, not ${maxAlternatives}`,
      );
    }
  }
  return {
    languageCode,
    form,
    sampleRateHertz: form.kind === "bare" ? sampleRateHertz : resampledRate,
    alternativesMax: maxAlternatives === 0 ? 1 : maxAlternatives,
    withWords: config?.enableWordTimeOffsets ?? false,
    punctuation: config?.enableAutomaticPunctuation ?? false,
    writing: {
      languageCode,
      formats: config?.enableFormatting ?? false,
      punctuation: config?.enableAutomaticPunctuation ?? false,
      masksProfanity: config?.profanityFilter ?? false,
    },
    ...hintsOf(config, path, context, violations),
    usesVocabulary:
      config?.ignoreVocabulary !== true &&
      context.recognizer.takesHints(languageCode, context.mode),
    ...checkSpeakers(config, path, context, violations),
  };
}

/** Returns the code of the language as its model has it: callers may use any letter case. */
function languageOf(
  config: RecognitionConfig | undefined,
  { recognizer, mode }: ConfigContext,
): string {
  return knownLanguageCode(config?.languageCode ?? "", recognizer.languageCodes(mode));
}

function hintsOf(
  config: RecognitionConfig | undefined,
  path: string,
  context: ConfigContext,
  violations: Violations,
): Pick<CheckedConfig, "hints"> {
  const use = { ...context, languageCode: languageOf(config, context) };
  const field = `${path}.speechContexts`;
  const hints = checkHints(config?.speechContexts ?? [], field, use, violations);
  return hints ? { hints } : {};
}

function checkSpeakers(
  config: RecognitionConfig | undefined,
  path: string,
  { recognizer, mode, ignoresUnsupported }: ConfigContext,
  violations: Violations,
): Pick<CheckedConfig, "speakersMax"> {
  const { diarizationConfig } = config ?? {};
  if (!diarizationConfig) return {};
  const field = `${path}.diarizationConfig`;
  const { enableSpeakerDiarization } = diarizationConfig;
  const speakersMax = checkSpeakerCounts(diarizationConfig, field, violations);
  if (!enableSpeakerDiarization) return {};
  const isServed = mode !== "live" && recognizer.canDiarize();
  if (isServed) return { speakersMax };
  const problem =
    mode === "live"
      ? "cannot be used on streams: speakers are distinguished once all audio is there"
      : "cannot be used: no diarization model is installed";
  if (!ignoresUnsupported) violations.add(`${field}.enableSpeakerDiarization`, problem);
  return {};
}

function checkEncoding(encoding: number, field: string, violations: Violations): void {
  if (forms.has(encoding)) return;
  violations.add(field, `must be ${encodingNames}, not ${foreignNames[encoding] ?? encoding}`);
}

/** Checks the sample rate, which only bare samples need. */
function checkRate(rate: number, form: AudioForm, field: string, violations: Violations): void {
  if (rate === 0) {
    if (form.kind === "container") return;
    violations.add(field, `is required: ${sampleRateHertzMin} to ${sampleRateHertzMax}`);
  } else if (rate < sampleRateHertzMin || rate > sampleRateHertzMax) {
    violations.add(field, `must be ${sampleRateHertzMin} to ${sampleRateHertzMax}, not ${rate}`);
  }
}

function checkLanguage(
  code: string,
  field: string,
  { recognizer, mode }: Pick<ConfigContext, "recognizer" | "mode">,
  violations: Violations,
): void {
  const installed = recognizer.languageCodes(mode);
  if (installed.includes(code)) return;
  if (code !== "") recognizer.checkModelsKnown();
  const choices = `installed: ${installed.join(", ")}`;
  const problem = code === "" ? "is required" : `is ${shown(code)}, which has no installed model`;
  violations.add(field, `${problem}; ${choices}`);
}
