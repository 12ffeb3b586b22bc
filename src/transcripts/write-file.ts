import { zstdDecompressSync } from "node:zlib";
import type { PackedSegments } from "./segments.ts";
import { spokenSegments } from "./spoken.ts";
import { subtitlesOf } from "./subtitles/subtitles.ts";
import { writeSrt } from "./subtitles/write-srt.ts";
import { writeVtt } from "./subtitles/write-vtt.ts";
import { writeText } from "./write-text.ts";

/** The content of a file. */
export interface FileContent {
  readonly format: "SRT" | "VTT" | "TEXT";
  readonly segments: Pick<PackedSegments, "jsonZstd" | "jsonBytes">;
  /** Names of speakers by id; a speaker without a name is shown by the id. */
  readonly names: ReadonlyMap<string, string>;
  /** The length of the recording; null if unknown. */
  readonly recordingMs: number | null;
}

/** Writes a transcript as the text of a file, in UTF-8. */
export function writeFile({ format, segments, names, recordingMs }: FileContent): Uint8Array {
  const json = unpackedJson(segments);
  const spoken = spokenSegments(json);
  const nameOf = (id: string) => names.get(id) ?? id;
  switch (format) {
    case "SRT":
      return Buffer.from(writeSrt(subtitlesOf(spoken, recordingMs ?? undefined)));
    case "VTT":
      return Buffer.from(writeVtt(subtitlesOf(spoken, recordingMs ?? undefined), nameOf));
    case "TEXT":
      return Buffer.from(writeText(spoken, nameOf));
    default:
      return format satisfies never;
  }
}

/** Returns the JSON array of packed segments. */
export function unpackedJson({ jsonZstd, jsonBytes }: FileContent["segments"]): string {
  return zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) }).toString();
}
