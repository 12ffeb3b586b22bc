import type { PcmEncoding } from "../../audio/pcm-samples.ts";
import { resampleRateMax, resampleRateMin } from "../../audio/resample.ts";
import { hintBoostMax, type PhraseContext } from "../../engines/protocol/check-hints.ts";
import type { Hint, RecognitionMode } from "../../engines/protocol/engine.ts";
import type { KnownLanguages, Recognizer } from "../../engines/protocol/recognizer.ts";
import { silenceMsBounds } from "../../speech/streaming-recognize.ts";
import { shown, Violations } from "../../std/service-error.ts";
import type { WritingOptions } from "../../writing/write-words.ts";
import { clientHints, type ClientHintUse } from "../client-hints.ts";
import { isYes, type FormFields } from "../form-fields.ts";
import { languageOf } from "../language-of.ts";
import type { LiveAudio } from "../live-session.ts";

/** What a client asks for, of what both the file and the live service have. */
export interface ListenOptions {
  readonly writing: WritingOptions;
  readonly hints: readonly Hint[];
  readonly alternativesMax: number;
  /** Whether words also have their form in the text: "Hello," for "hello". */
  readonly punctuatedWords: boolean;
}

/** The options of a recording. */
export interface FileOptions extends ListenOptions {
  readonly detectsSpeakers: boolean;
  readonly paragraphs: boolean;
  /** The silence in seconds between two utterances; undefined without utterances. */
  readonly utteranceSplitSeconds: number | undefined;
  /** The samples, if the body has no header that describes them. */
  readonly bare: BareAudio | undefined;
}

/** The options of a stream. */
export interface StreamOptions extends ListenOptions {
  readonly audio: LiveAudio;
  readonly interim: boolean;
  /** Whether the client gets an event when speech begins. */
  readonly speechStarts: boolean;
  /** The silence after a word that ends an utterance. */
  readonly silenceMsMin: number | undefined;
  /** When UtteranceEnd is sent; undefined for never. */
  readonly utteranceEndMs: number | undefined;
}

export type BareAudio = Extract<LiveAudio, { readonly kind: "bare" }>;

export interface OptionsContext {
  readonly recognizer: KnownLanguages & Pick<Recognizer, "takesHints" | "canDiarize">;
  readonly defaultLanguage: string | undefined;
  /** The language in the path; it applies if the query has none. */
  readonly pathLanguage: string;
}

const bareEncodings: Readonly<Record<string, PcmEncoding>> = {
  linear16: "s16",
  linear32: "f32",
  mulaw: "mulaw",
  alaw: "alaw",
};
/** The encodings whose first bytes say what they are. */
const containers: readonly string[] = [
  "flac",
  "opus",
  "ogg-opus",
  "amr-nb",
  "amr-wb",
  "mp3",
  "aac",
  "webm",
  "wav",
];
/** Options that would change the answer in a way that its reader relies on. */
const refused: Readonly<Record<string, string>> = {
  redact: "cannot be used: nothing is redacted here",
  callback: "cannot be used: the answer comes in the response",
  multichannel: "cannot be used: channels are mixed to one",
};
const utteranceSplitDefault = 0.8;
const alternativesMaxMax = 30;

/** Reads the query of POST /v1/listen. Throws invalid_argument with every violation. */
export function readFileOptions(query: FormFields, context: OptionsContext): FileOptions {
  const violations = new Violations();
  const common = readCommon(query, context, "short", violations);
  const detectsSpeakers = isYes(query.one("diarize")) || query.one("diarize_model") !== "";
  if (detectsSpeakers && !context.recognizer.canDiarize()) {
    violations.add("diarize", "cannot be used: no diarization model is installed");
  }
  const name = query.one("encoding").toLowerCase();
  const audio = audioOf(query, violations);
  const split = query.one("utt_split");
  violations.throwIfAny();
  return {
    ...common,
    detectsSpeakers,
    paragraphs: isYes(query.one("paragraphs")),
    utteranceSplitSeconds: isYes(query.one("utterances"))
      ? Number(split) || utteranceSplitDefault
      : undefined,
    bare: name !== "" && audio.kind === "bare" ? audio : undefined,
  };
}

/** Reads the query of a socket at /v1/listen. Throws invalid_argument with every violation. */
export function readStreamOptions(query: FormFields, context: OptionsContext): StreamOptions {
  const violations = new Violations();
  const common = readCommon(query, context, "live", violations);
  const audio = audioOf(query, violations);
  const silenceMsMin = silenceOf(query.one("endpointing"), violations);
  const utteranceEnd = query.one("utterance_end_ms");
  const utteranceEndMs = Number(utteranceEnd);
  if (utteranceEnd !== "" && !(utteranceEndMs >= 0)) {
    violations.add("utterance_end_ms", `must be milliseconds, not ${shown(utteranceEnd)}`);
  }
  violations.throwIfAny();
  return {
    ...common,
    audio,
    interim: isYes(query.one("interim_results")),
    speechStarts: isYes(query.one("vad_events")),
    silenceMsMin,
    utteranceEndMs: utteranceEndMs > 0 ? utteranceEndMs : undefined,
  };
}

function readCommon(
  query: FormFields,
  context: OptionsContext,
  mode: RecognitionMode,
  violations: Violations,
): ListenOptions {
  for (const [name, problem] of Object.entries(refused)) {
    const values = query.all(name).filter((each) => !/^(?:false|)$/i.test(each));
    if (values.length > 0) violations.add(name, problem);
  }
  const { recognizer, defaultLanguage, pathLanguage } = context;
  const wanted = query.one("language").toLowerCase() === "multi" ? "" : query.one("language");
  const choice = { recognizer, mode, defaultLanguage };
  const languageCode = languageOf(wanted || pathLanguage, "language", choice, violations);
  const smart = isYes(query.one("smart_format"));
  const punctuation = smart || isYes(query.one("punctuate")) || isYes(query.one("dictation"));
  const formats = smart || isYes(query.one("numerals")) || isYes(query.one("measurements"));
  const masksProfanity = isYes(query.one("profanity_filter"));
  return {
    writing: { languageCode, formats, punctuation, masksProfanity },
    hints: hintsOf(query, { recognizer, languageCode, mode }, violations),
    alternativesMax: alternativesOf(query.one("alternatives"), violations),
    punctuatedWords: punctuation || formats,
  };
}

function alternativesOf(text: string, violations: Violations): number {
  if (text === "") return 1;
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= alternativesMaxMax) return count;
  violations.add("alternatives", `must be 1 to ${alternativesMaxMax}, not ${shown(text)}`);
  return 1;
}

/** Returns the keyterms and keywords: `word`, or `word:boost`. */
function hintsOf(query: FormFields, use: ClientHintUse, violations: Violations): readonly Hint[] {
  const terms = query.all("keyterm").flatMap(listIn);
  const keywords = query.all("keywords").flatMap(listIn);
  const contexts: PhraseContext[] = [{ phrases: terms, boost: 0 }];
  for (const keyword of keywords) {
    const [, phrase = "", boost = ""] = /^(.*?)(?::(-?[\d.]+))?$/.exec(keyword) ?? [];
    const wanted = Number(boost);
    // A negative boost makes a word less likely, which no model here does.
    if (wanted < 0) continue;
    contexts.push({ phrases: [phrase], boost: Math.min(hintBoostMax, wanted) });
  }
  const kept = contexts.filter(({ phrases }) => phrases.length > 0);
  return clientHints(kept, terms.length > 0 ? "keyterm" : "keywords", use, violations);
}

/** Deepgram's own client sends a list as JSON in one value. */
function listIn(value: string): string[] {
  if (!value.startsWith("[")) return value.trim() === "" ? [] : [value];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list.filter((each) => typeof each === "string") : [value];
  } catch {
    return [value];
  }
}

/** Returns the audio that the query announces. */
function audioOf(query: FormFields, violations: Violations): LiveAudio {
  const name = query.one("encoding").toLowerCase();
  const encoding = bareEncodings[name];
  if (!encoding) {
    if (name !== "" && !containers.includes(name)) {
      const known = [...Object.keys(bareEncodings), ...containers];
      violations.add("encoding", `must be ${known.join(", ")}, or none, not ${shown(name)}`);
    }
    return { kind: "container" };
  }
  const rate = query.one("sample_rate");
  const sampleRateHertz = Number(rate);
  if (rate === "") {
    violations.add("sample_rate", `is required: ${resampleRateMin} to ${resampleRateMax}`);
  } else if (!(sampleRateHertz >= resampleRateMin && sampleRateHertz <= resampleRateMax)) {
    const problem = `must be ${resampleRateMin} to ${resampleRateMax}, not ${shown(rate)}`;
    violations.add("sample_rate", problem);
  }
  const count = query.one("channels");
  const channels = count === "" || count === "1" ? 1 : 2;
  if (channels === 2 && count !== "2") {
    violations.add("channels", `must be 1 or 2, not ${shown(count)}`);
  }
  return { kind: "bare", encoding, sampleRateHertz, channels };
}

/** Returns the nearest silence that the service can wait for; the default for no number. */
function silenceOf(text: string, violations: Violations): number | undefined {
  const [min, max] = silenceMsBounds;
  if (text === "" || /^true$/i.test(text)) return undefined;
  if (/^false$/i.test(text)) return max;
  const ms = Number(text);
  if (ms >= 0) return Math.round(Math.min(max, Math.max(min, ms)));
  violations.add("endpointing", `must be milliseconds or false, not ${shown(text)}`);
  return undefined;
}
