import {
  ExportFormat as Format,
  ExportFormatSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";

/** The formats whose files are made from the words of a transcript, and can be signed. */
export type WrittenFormat = (typeof writtenFormats)[number];

export const writtenFormats = [
  "VTT_PAINT_ON",
  "VTT_POP_ON",
  "SRT",
  "AUDACITY_LABELS",
  "VTT",
  "TEXT",
  "DOCX",
  "ODT",
] as const;

/** The formats of exported files. */
export const exportFormats = [...writtenFormats, "JSON"] as const;
export type FileFormat = (typeof exportFormats)[number];

/** The media type of each format, and the ending of its file names. */
export const fileTypes: Readonly<Record<FileFormat, { contentType: string; ending: string }>> = {
  VTT_PAINT_ON: { contentType: "text/vtt; charset=utf-8", ending: "vtt" },
  VTT_POP_ON: { contentType: "text/vtt; charset=utf-8", ending: "vtt" },
  SRT: { contentType: "application/x-subrip; charset=utf-8", ending: "srt" },
  AUDACITY_LABELS: { contentType: "text/plain; charset=utf-8", ending: "txt" },
  VTT: { contentType: "text/vtt; charset=utf-8", ending: "vtt" },
  TEXT: { contentType: "text/plain; charset=utf-8", ending: "txt" },
  DOCX: {
    contentType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ending: "docx",
  },
  ODT: { contentType: "application/vnd.oasis.opendocument.text", ending: "odt" },
  JSON: { contentType: "application/json", ending: "json" },
};

/** Returns the format of this number among `allowed`; undefined if it is not one of them. */
export function formatOf<Name extends FileFormat>(
  format: Format,
  allowed: readonly Name[],
): Name | undefined {
  return allowed.find((name) => Format[name] === format);
}

/** Describes a format that is not one of `allowed`. */
export function unknownFormat(format: Format, allowed: readonly FileFormat[]): FieldViolation {
  const expected = `${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1) ?? ""} is expected`;
  const isAbsent = format === Format.EXPORT_FORMAT_UNSPECIFIED;
  const got = isAbsent ? "" : `, not ${ExportFormatSchema.value[format]?.name ?? format}`;
  return { field: "format", description: `${expected}${got}` };
}
