import { zstdDecompressSync } from "node:zlib";
import type { ChosenOptions } from "./export-options.ts";
import { documentParagraphs } from "./document/paragraphs.ts";
import { writeDocx } from "./document/write-docx.ts";
import { writeOdt } from "./document/write-odt.ts";
import type { WrittenFormat } from "./export-formats.ts";
import type { PackedSegments } from "./segments.ts";
import { spokenSegments } from "./spoken.ts";
import { namedTurns } from "./subtitles/named-turns.ts";
import { paintOn } from "./subtitles/paint-on.ts";
import { subtitlesOf } from "../cues/subtitles.ts";
import { writeSrt } from "./subtitles/write-srt.ts";
import { writePaintOn, writeVtt } from "./subtitles/write-vtt.ts";
import { writeLabels } from "./write-labels.ts";
import { writeText } from "./write-text.ts";

/** The maximum size of a file in a format that repeats text (docs/api.md, Transcripts). */
export const fileBytesMax = 64 << 20;

/** The content of a file. */
export interface FileContent {
  readonly format: WrittenFormat;
  readonly segments: Pick<PackedSegments, "jsonZstd" | "jsonBytes">;
  /** Names of speakers by id; a speaker without a name is shown by the id. */
  readonly names: ReadonlyMap<string, string>;
  /** The length of the recording; null if unknown. */
  readonly recordingMs: number | null;
  /** The subject of the transcript, in one line. */
  readonly title: string;
  readonly languageCode: string;
  readonly options: ChosenOptions;
}

/**
 * Writes a transcript as a file; text is in UTF-8. Returns undefined if the file, or the text of a
 * document before its compression, would be longer than `fileBytesMax`.
 */
export function writeFile(content: FileContent): Uint8Array | undefined {
  const written = contentOf(content);
  return typeof written === "string" ? Buffer.from(written) : written;
}

function contentOf(content: FileContent): string | Uint8Array | undefined {
  const { format, segments, names, recordingMs, title, languageCode, options } = content;
  const spoken = spokenSegments(unpackedJson(segments));
  const nameOf = (id: string) => names.get(id) ?? id;
  const limitMs = recordingMs ?? undefined;
  switch (format) {
    case "SRT":
      return writeSrt(
        subtitlesOf(options.speakers ? namedTurns(spoken, nameOf) : spoken, limitMs, options),
      );
    case "VTT":
    case "VTT_POP_ON":
      return writeVtt(subtitlesOf(spoken, limitMs, options), options.speakers ? nameOf : () => "");
    case "VTT_PAINT_ON":
      return writePaintOn(paintOn(spoken, limitMs), nameOf, fileBytesMax);
    case "AUDACITY_LABELS":
      return writeLabels(spoken);
    case "TEXT":
      return writeText(spoken, nameOf, { title, options });
    case "DOCX":
    case "ODT": {
      const paragraphs = documentParagraphs(spoken, nameOf, options);
      const write = format === "DOCX" ? writeDocx : writeOdt;
      return write({ title, languageCode, paragraphs, options, charsMax: fileBytesMax });
    }
    default:
      return format satisfies never;
  }
}

/** Returns the JSON array of packed segments. */
export function unpackedJson({ jsonZstd, jsonBytes }: FileContent["segments"]): string {
  return zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) }).toString();
}
