import { zstdDecompressSync } from "node:zlib";
import type { TextFormat } from "./export-formats.ts";
import type { PackedSegments } from "./segments.ts";
import { spokenSegments } from "./spoken.ts";
import { paintOn } from "./subtitles/paint-on.ts";
import { subtitlesOf } from "./subtitles/subtitles.ts";
import { writeSrt } from "./subtitles/write-srt.ts";
import { writePaintOn, writeVtt } from "./subtitles/write-vtt.ts";
import { writeLabels } from "./write-labels.ts";
import { writeText } from "./write-text.ts";

/** The maximum size of a file in a format that repeats text (docs/api.md, Transcripts). */
export const fileBytesMax = 64 << 20;

/** The content of a file. */
export interface FileContent {
  readonly format: TextFormat;
  readonly segments: Pick<PackedSegments, "jsonZstd" | "jsonBytes">;
  /** Names of speakers by id; a speaker without a name is shown by the id. */
  readonly names: ReadonlyMap<string, string>;
  /** The length of the recording; null if unknown. */
  readonly recordingMs: number | null;
}

/**
 * Writes a transcript as the text of a file, in UTF-8. Returns undefined if the file would be
 * longer than `fileBytesMax`.
 */
export function writeFile(content: FileContent): Uint8Array | undefined {
  const text = textOf(content);
  return text === undefined ? undefined : Buffer.from(text);
}

function textOf({ format, segments, names, recordingMs }: FileContent): string | undefined {
  const spoken = spokenSegments(unpackedJson(segments));
  const nameOf = (id: string) => names.get(id) ?? id;
  const limitMs = recordingMs ?? undefined;
  switch (format) {
    case "SRT":
      return writeSrt(subtitlesOf(spoken, limitMs));
    case "VTT":
    case "VTT_POP_ON":
      return writeVtt(subtitlesOf(spoken, limitMs), nameOf);
    case "VTT_PAINT_ON":
      return writePaintOn(paintOn(spoken, limitMs), nameOf, fileBytesMax);
    case "AUDACITY_LABELS":
      return writeLabels(spoken);
    case "TEXT":
      return writeText(spoken, nameOf);
    default:
      return format satisfies never;
  }
}

/** Returns the JSON array of packed segments. */
export function unpackedJson({ jsonZstd, jsonBytes }: FileContent["segments"]): string {
  return zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) }).toString();
}
