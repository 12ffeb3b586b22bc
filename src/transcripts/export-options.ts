import {
  ExportOptions_Times as Times,
  ExportOptions_TimesSchema,
  type ExportOptions,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";
import type { FileOptions } from "./document/paragraphs.ts";
import type { FileFormat } from "./export-formats.ts";

/** The bounds of `intervalSeconds`, which may also be 0 (docs/api.md, Transcripts). */
export const intervalSecondsBounds = { min: 5, max: 3600 } as const;

const documents = { speakers: true, times: true, intervalSeconds: 0, title: true };

/** The options of the formats that have some, if a caller sets none. */
const defaults = {
  TEXT: { speakers: true, times: false, intervalSeconds: 0, title: false },
  DOCX: documents,
  ODT: documents,
} satisfies Partial<Record<FileFormat, FileOptions>>;

/** Returns the options for a file of a format; undefined if none were set. */
export function fileOptionsOf(
  format: FileFormat,
  message: ExportOptions | undefined,
): FileOptions | undefined {
  if (!message || !hasOptions(format)) return undefined;
  const { speakers, title, times, intervalSeconds } = message;
  const usual = defaults[format];
  const isTimed = times === Times.TIMES_UNSPECIFIED ? usual.times : times === Times.PARAGRAPH;
  return {
    speakers: speakers ?? usual.speakers,
    title: title ?? usual.title,
    times: isTimed || intervalSeconds > 0,
    intervalSeconds,
  };
}

/** Returns the default options of a format; those of formats without options have no effect. */
export function defaultOptionsOf(format: FileFormat): FileOptions {
  return hasOptions(format) ? defaults[format] : documents;
}

function hasOptions(format: FileFormat): format is keyof typeof defaults {
  return Object.hasOwn(defaults, format);
}

/** Checks the options of a request for a file. */
export function* checkOptions(
  format: FileFormat,
  message: ExportOptions | undefined,
): Generator<FieldViolation> {
  if (!message) return;
  if (!hasOptions(format)) {
    const description = `are for ${Object.keys(defaults).join(", ")}, not for ${format}`;
    yield { field: "options", description };
    return;
  }
  const { times, intervalSeconds } = message;
  if (ExportOptions_TimesSchema.value[times] === undefined) {
    yield { field: "options.times", description: `NONE or PARAGRAPH is expected, not ${times}` };
  }
  const { min, max } = intervalSecondsBounds;
  const field = "options.intervalSeconds";
  if (intervalSeconds !== 0 && (intervalSeconds < min || intervalSeconds > max)) {
    yield { field, description: `must be 0, or ${min} to ${max}, not ${intervalSeconds}` };
  } else if (intervalSeconds !== 0 && times === Times.NONE) {
    yield { field, description: `must be 0 without times, not ${intervalSeconds}` };
  }
}

/** Writes options as a part of a path. */
export function optionsText({ speakers, times, intervalSeconds, title }: FileOptions): string {
  return `${Number(speakers)}-${Number(times)}-${intervalSeconds}-${Number(title)}`;
}

/** Reads what optionsText() wrote; undefined if it is something else. */
export function optionsFromText(text: string): FileOptions | undefined {
  const [, speakers, times, seconds, title] = /^([01])-([01])-(\d{1,4})-([01])$/.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  return {
    speakers: speakers === "1",
    times: times === "1",
    intervalSeconds: Number(seconds),
    title: title === "1",
  };
}
