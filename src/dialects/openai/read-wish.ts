import type { Hint } from "../../engines/protocol/engine.ts";
import type { KnownLanguages, Recognizer } from "../../engines/protocol/recognizer.ts";
import { shown, Violations } from "../../std/service-error.ts";
import { keywordHints } from "../client-hints.ts";
import { type FormFields, isYes } from "../form-fields.ts";
import { languageOf } from "../language-of.ts";

const transcriptionFormats = [
  "json",
  "text",
  "srt",
  "vtt",
  "verbose_json",
  "diarized_json",
] as const;
export type TranscriptionFormat = (typeof transcriptionFormats)[number];

/** What a client asks for, of what this service has. */
export interface TranscriptionWish {
  readonly format: TranscriptionFormat;
  /** Whether the text comes in server-sent events. */
  readonly streams: boolean;
  /** What verbose_json has. */
  readonly granularities: ReadonlySet<string>;
  readonly languageCode: string;
  readonly hints: readonly Hint[];
}

export interface WishContext {
  readonly recognizer: KnownLanguages & Pick<Recognizer, "takesHints" | "canDiarize">;
  readonly defaultLanguage: string | undefined;
  /** The language in the path; it applies if the form has none. */
  readonly pathLanguage: string;
}

const granularities: ReadonlySet<string> = new Set(["segment", "word"]);

/**
 * Reads the fields of POST /v1/audio/transcriptions. Unknown fields and models are accepted, since
 * clients send what other services know. Throws invalid_argument with every violation.
 */
export function readWish(fields: FormFields, context: WishContext): TranscriptionWish {
  const violations = new Violations();
  const format = formatOf(fields, violations);
  const streams = isYes(fields.one("stream"));
  if (streams && (format === "srt" || format === "vtt")) {
    violations.add("stream", `cannot be used with response_format ${format}`);
  }
  const wished = fields.all("timestamp_granularities").map((each) => each.toLowerCase());
  for (const each of wished) {
    if (granularities.has(each)) continue;
    violations.add("timestamp_granularities", `must be word or segment, not ${shown(each)}`);
  }
  refuseMissing(fields, format, context, violations);
  const wanted = fields.one("language") || fields.one("languages") || context.pathLanguage;
  const { recognizer, defaultLanguage } = context;
  const choice = { recognizer, mode: "short", defaultLanguage } as const;
  const languageCode = languageOf(wanted, "language", choice, violations);
  const phrases = { keywords: fields.all("keywords"), prompt: fields.one("prompt") };
  const use = { recognizer, languageCode, mode: "short" } as const;
  const hints = keywordHints(phrases, "keywords", use, violations);
  violations.throwIfAny();
  return {
    format,
    streams,
    granularities: new Set(wished.length === 0 ? ["segment"] : wished),
    languageCode,
    hints,
  };
}

function formatOf(fields: FormFields, violations: Violations): TranscriptionFormat {
  const name = fields.one("response_format").toLowerCase() || "json";
  const format = transcriptionFormats.find((each) => each === name);
  if (format) return format;
  const problem = `must be ${transcriptionFormats.join(", ")}, not ${shown(name)}`;
  violations.add("response_format", problem);
  return "json";
}

/** Adds a violation for each thing that the service cannot give, and would have to invent. */
function refuseMissing(
  fields: FormFields,
  format: TranscriptionFormat,
  { recognizer }: WishContext,
  violations: Violations,
): void {
  if (fields.all("include").includes("logprobs")) {
    violations.add("include", "cannot have logprobs: the models have no tokens with probabilities");
  }
  if (isYes(fields.one("translate")) || fields.one("task") === "translate") {
    violations.add("task", "cannot be translate: this service transcribes only");
  }
  if (format !== "diarized_json") return;
  if (!recognizer.canDiarize()) {
    violations.add("response_format", "cannot be diarized_json: no diarization model is installed");
  }
  if (fields.all("known_speaker_names").length > 0) {
    violations.add(
      "known_speaker_names",
      "cannot be used: speakers are distinguished, not identified",
    );
  }
}
