import {
  ExportFormat as Format,
  type ImportTranscriptRequest,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { isVtt } from "./subtitles/read-vtt.ts";

/** The formats of files that are imported. */
export const importFormats = ["SRT", "VTT", "TEXT", "JSON"] as const;
export type ImportFormat = (typeof importFormats)[number];

/**
 * Returns the format of a file to import: the one that is named, or the one that is detected from
 * the content. Plain text is never detected, because a broken subtitle file would be text as well.
 * Returns undefined for a format that cannot be imported.
 */
export function importFormatOf({
  format,
  content,
}: Pick<ImportTranscriptRequest, "format" | "content">): ImportFormat | undefined {
  if (format !== Format.EXPORT_FORMAT_UNSPECIFIED) {
    return importFormats.find((name) => Format[name] === format);
  }
  if (/^\ufeff?\s*\{\s*["}]/.test(content)) return "JSON";
  return isVtt(content) ? "VTT" : "SRT";
}
