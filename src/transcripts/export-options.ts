import {
  ExportOptions_Times as Times,
  ExportOptions_TimesSchema,
  type ExportOptions,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { type SubtitleLines, subtitleRules } from "../cues/subtitle-rules.ts";
import type { FieldViolation } from "../std/service-error.ts";
import type { FileOptions } from "./document/paragraphs.ts";
import type { FileFormat } from "./export-formats.ts";

/** The bounds of `intervalSeconds`, which may also be 0 (docs/api.md, Transcripts). */
export const intervalSecondsBounds = { min: 5, max: 3600 } as const;
/** The bounds of `lineChars` and `lines`, which may also be 0. */
export const lineCharsBounds = { min: 20, max: 100 } as const;
export const linesBounds = { min: 1, max: 2 } as const;

/** What a file shows, of any format. A format uses the options that it has. */
export interface ChosenOptions extends FileOptions, SubtitleLines {}

const { lineChars, lines } = subtitleRules;
const documents = {
  speakers: true,
  times: true,
  intervalSeconds: 0,
  title: true,
  lineChars,
  lines,
};
const subtitles = { ...documents, times: false, title: false };

/** The options of the formats that have some, if a caller sets none. */
const defaults = {
  TEXT: { ...documents, times: false, title: false },
  DOCX: documents,
  ODT: documents,
  SRT: { ...subtitles, speakers: false },
  VTT: subtitles,
  VTT_POP_ON: subtitles,
} satisfies Partial<Record<FileFormat, ChosenOptions>>;
type FormatWithOptions = keyof typeof defaults;

const documentFormats = ["TEXT", "DOCX", "ODT"] as const satisfies readonly FormatWithOptions[];
const subtitleFormats = [
  "SRT",
  "VTT",
  "VTT_POP_ON",
] as const satisfies readonly FormatWithOptions[];

/** Returns the options for a file of a format; undefined if none were set. */
export function fileOptionsOf(
  format: FileFormat,
  message: ExportOptions | undefined,
): ChosenOptions | undefined {
  if (!message || !hasOptions(format)) return undefined;
  const { speakers, title, times, intervalSeconds } = message;
  const usual = defaults[format];
  const isTimed = times === Times.TIMES_UNSPECIFIED ? usual.times : times === Times.PARAGRAPH;
  return {
    speakers: speakers ?? usual.speakers,
    title: title ?? usual.title,
    times: isTimed || intervalSeconds > 0,
    intervalSeconds,
    lineChars: message.lineChars || usual.lineChars,
    lines: message.lines || usual.lines,
  };
}

/** Returns the default options of a format; those of formats without options have no effect. */
export function defaultOptionsOf(format: FileFormat): ChosenOptions {
  return hasOptions(format) ? defaults[format] : documents;
}

function hasOptions(format: FileFormat): format is FormatWithOptions {
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
  const isSubtitles = subtitleFormats.some((each) => each === format);
  const absent = isSubtitles ? documentFieldsSet(message) : subtitleFieldsSet(message);
  const having = (isSubtitles ? documentFormats : subtitleFormats).join(", ");
  for (const field of absent) {
    yield { field: `options.${field}`, description: `is for ${having}, not for ${format}` };
  }
  if (absent.length === 0) yield* isSubtitles ? checkLines(message) : checkTimes(message);
}

function documentFieldsSet({ times, intervalSeconds, title }: ExportOptions): string[] {
  return [
    ...(times === Times.TIMES_UNSPECIFIED ? [] : ["times"]),
    ...(intervalSeconds === 0 ? [] : ["intervalSeconds"]),
    ...(title === undefined ? [] : ["title"]),
  ];
}

function subtitleFieldsSet(message: ExportOptions): string[] {
  return (["lineChars", "lines"] as const).filter((field) => message[field] !== 0);
}

function* checkLines(message: ExportOptions): Generator<FieldViolation> {
  const bounds = { lineChars: lineCharsBounds, lines: linesBounds };
  for (const field of ["lineChars", "lines"] as const) {
    const { [field]: value } = message;
    const { min, max } = bounds[field];
    if (value === 0 || (value >= min && value <= max)) continue;
    const description = `must be 0, or ${min} to ${max}, not ${value}`;
    yield { field: `options.${field}`, description };
  }
}

function* checkTimes({ times, intervalSeconds }: ExportOptions): Generator<FieldViolation> {
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
export function optionsText(options: ChosenOptions): string {
  const { speakers, times, intervalSeconds, title } = options;
  const lines = `${options.lineChars}-${options.lines}`;
  return `${Number(speakers)}-${Number(times)}-${intervalSeconds}-${Number(title)}-${lines}`;
}

/**
 * Reads what optionsText() wrote; undefined if it is something else. URLs that were signed by
 * earlier versions have no lines.
 */
export function optionsFromText(text: string): ChosenOptions | undefined {
  const pattern = /^([01])-([01])-(\d{1,4})-([01])(?:-(\d{2,3})-([12]))?$/;
  const [, speakers, times, seconds, title, chars, count] = pattern.exec(text) ?? [];
  if (seconds === undefined) return undefined;
  return {
    speakers: speakers === "1",
    times: times === "1",
    intervalSeconds: Number(seconds),
    title: title === "1",
    lineChars: chars === undefined ? lineChars : Number(chars),
    lines: count === undefined ? lines : Number(count),
  };
}
