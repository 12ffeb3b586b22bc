import { resampleRateMax, resampleRateMin } from "../../../audio/resample.ts";
import type { Hint } from "../../../engines/protocol/engine.ts";
import type { KnownLanguages, Recognizer } from "../../../engines/protocol/recognizer.ts";
import { silenceMsBounds } from "../../../speech/streaming-recognize.ts";
import { shown, Violations } from "../../../std/service-error.ts";
import { keywordHints } from "../../client-hints.ts";
import { languageOf } from "../../language-of.ts";
import type { LiveAudio } from "../../live-session.ts";

/** The form of the audio as the protocol names it. */
export interface RealtimeFormat {
  readonly type: "audio/pcm" | "audio/pcmu" | "audio/pcma";
  readonly rate: number;
}

/** How a session recognizes, as its client has set it. */
export interface RealtimeSettings {
  readonly format: RealtimeFormat;
  /** The language as the client named it; "" without one. */
  readonly language: string;
  readonly languageCode: string;
  readonly hints: readonly Hint[];
  /** The silence that ends a turn; undefined if the client ends the turns itself. */
  readonly silenceMs: number | undefined;
  /** The transcription as the client sent it, for the answer. */
  readonly transcription: object;
}

export interface SettingsContext {
  readonly recognizer: KnownLanguages & Pick<Recognizer, "takesHints">;
  readonly defaultLanguage: string | undefined;
  /** The language in the path; it applies if the session names none. */
  readonly pathLanguage: string;
}

const silenceMsDefault = 500;
const betaFormats: Readonly<Record<string, RealtimeFormat>> = {
  pcm16: { type: "audio/pcm", rate: 24_000 },
  g711_ulaw: { type: "audio/pcmu", rate: 8_000 },
  g711_alaw: { type: "audio/pcma", rate: 8_000 },
};

/** Returns the settings of a session before its first update, as far as they are known. */
export function firstSettings(): Omit<RealtimeSettings, "languageCode"> {
  return {
    format: { type: "audio/pcm", rate: 24_000 },
    language: "",
    hints: [],
    silenceMs: silenceMsDefault,
    transcription: {},
  };
}

/**
 * Returns the settings after an update, in the present form of the protocol or in that of its beta;
 * what the update lacks stays. Throws invalid_argument with every violation.
 */
export function readSettings(
  session: object,
  before: Omit<RealtimeSettings, "languageCode">,
  context: SettingsContext,
): RealtimeSettings {
  const violations = new Violations();
  const type = memberOf(session, "type");
  if (type !== undefined && type !== "transcription") {
    violations.add("session.type", `must be "transcription", not ${shown(type)}`);
  }
  const input = objectIn(objectIn(session, "audio"), "input");
  const format = formatOf(session, input, violations) ?? before.format;
  const update = memberOf(input, "transcription") ?? memberOf(session, "input_audio_transcription");
  const transcription = isObject(update) ? update : before.transcription;
  const { recognizer, defaultLanguage, pathLanguage } = context;
  const language =
    textIn(transcription, "language") || (listIn(transcription, "languages")[0] ?? "");
  const path = "session.audio.input.transcription";
  const choice = { recognizer, mode: "live", defaultLanguage } as const;
  const languageCode = languageOf(language || pathLanguage, `${path}.language`, choice, violations);
  const phrases = {
    keywords: listIn(transcription, "keywords"),
    prompt: textIn(transcription, "prompt"),
  };
  const use = { recognizer, languageCode, mode: "live" } as const;
  const hints = keywordHints(phrases, `${path}.keywords`, use, violations);
  const silenceMs = silenceOf(session, input, before.silenceMs);
  violations.throwIfAny();
  return { format, language, languageCode, hints, silenceMs, transcription };
}

/** Returns the audio of a session. */
export function audioOf({ format: { type, rate } }: Pick<RealtimeSettings, "format">): LiveAudio {
  const encoding = { "audio/pcm": "s16", "audio/pcmu": "mulaw", "audio/pcma": "alaw" } as const;
  return { kind: "bare", encoding: encoding[type], sampleRateHertz: rate, channels: 1 };
}

function formatOf(
  session: object,
  input: object,
  violations: Violations,
): RealtimeFormat | undefined {
  const beta = memberOf(session, "input_audio_format");
  if (beta !== undefined) {
    const format = typeof beta === "string" ? betaFormats[beta] : undefined;
    if (format) return format;
    const names = Object.keys(betaFormats).join(", ");
    violations.add("session.input_audio_format", `must be ${names}, not ${shown(beta)}`);
    return undefined;
  }
  const given = memberOf(input, "format");
  if (!isObject(given)) return undefined;
  const type = textIn(given, "type");
  const path = "session.audio.input.format";
  if (type === "audio/pcmu" || type === "audio/pcma") return { type, rate: 8_000 };
  if (type !== "audio/pcm") {
    const problem = `must be audio/pcm, audio/pcmu or audio/pcma, not ${shown(type)}`;
    violations.add(`${path}.type`, problem);
    return undefined;
  }
  const rate = memberOf(given, "rate") ?? 24_000;
  if (typeof rate === "number" && rate >= resampleRateMin && rate <= resampleRateMax) {
    return { type, rate };
  }
  const problem = `must be ${resampleRateMin} to ${resampleRateMax}, not ${shown(rate)}`;
  violations.add(`${path}.rate`, problem);
  return undefined;
}

/** Returns the nearest silence that the service can wait for. */
function silenceOf(session: object, input: object, before: number | undefined): number | undefined {
  // null is a value here: the client ends the turns.
  const holder = "turn_detection" in input ? input : session;
  const detection: unknown = Reflect.get(holder, "turn_detection");
  if (detection === null) return undefined;
  if (!isObject(detection)) return before;
  const wanted = memberOf(detection, "silence_duration_ms");
  const [min, max] = silenceMsBounds;
  if (typeof wanted !== "number") return silenceMsDefault;
  return Math.round(Math.min(max, Math.max(min, wanted)));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function memberOf(value: object, name: string): unknown {
  return Reflect.get(value, name) ?? undefined;
}

function objectIn(value: object, name: string): object {
  const found = memberOf(value, name);
  return isObject(found) ? found : {};
}

function textIn(value: object, name: string): string {
  const found = memberOf(value, name);
  return typeof found === "string" ? found : "";
}

function listIn(value: object, name: string): string[] {
  const found = memberOf(value, name);
  return Array.isArray(found) ? found.filter((each) => typeof each === "string") : [];
}
