import { createHash } from "node:crypto";
import { zstdCompressSync } from "node:zlib";
import type { TranscriptMetadataJson } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ImportFormat } from "./import-formats.ts";
import { readJsonFile } from "./read-json-file.ts";
import { readTextFile } from "./read-text-file.ts";
import { transcriptLimits } from "./transcript-limits.ts";
import { charCount, segmentsJson, textLength, type PackedText } from "./segments.ts";
import { spokenJson, type SpokenSegment } from "./spoken.ts";
import { segmentsOfCues, type VoicedSegment } from "./subtitles/cue-segments.ts";
import { UnreadableFile } from "./subtitles/read-cue.ts";
import { readSubtitles } from "./subtitles/read-subtitles.ts";

export interface FileToRead {
  readonly content: string;
  readonly format: ImportFormat;
  /** The speakers' names that the caller sent, by id. */
  readonly names: ReadonlyMap<string, string>;
}

/** The content of a file, or the reason why it cannot be read. */
export type FileReading =
  | { readonly problem: string }
  | {
      readonly text: PackedText;
      /** The names that the caller sent and the names found in the file. */
      readonly names: ReadonlyMap<string, string>;
      /** The metadata in the file, of which callers may write each field. */
      readonly metadata?: TranscriptMetadataJson;
    };

/** Reads a file of subtitles, a text or a transcript into segments in stored form. */
export function readFile(file: FileToRead): FileReading {
  try {
    if (file.format !== "JSON") return readVoiced(file);
    const { segments, metadata } = readJsonFile(file.content);
    const { chars, bytes } = textLength(segments);
    const packed = packJson(Buffer.from(segmentsJson(segments)));
    return {
      text: { ...packed, textChars: chars, textBytes: bytes },
      names: new Map(),
      metadata,
    };
  } catch (error) {
    if (error instanceof UnreadableFile) return { problem: error.message };
    throw error;
  }
}

/** Reads a file whose speakers have names, but no ids. */
function readVoiced({ content, format, names }: FileToRead): FileReading {
  const isText = format === "TEXT";
  const cues = isText
    ? readTextFile(content, names.values())
    : readSubtitles(content, format === "VTT" ? "VTT" : "SRT");
  const voiced = segmentsOfCues(cues, transcriptLimits.wordChars);
  const problem = problemOf(voiced, isText ? "paragraphs" : "cues with text");
  if (problem !== undefined) return { problem };
  const speakers = new Speakers(names);
  const segments = voiced.map(({ voice, words, ...segment }) => ({
    ...segment,
    words: isText ? words.map((word) => ({ ...word, estimatedTimes: true as const })) : words,
    speakerId: speakers.idOf(voice),
  }));
  return { text: packSpoken(segments), names: speakers.names };
}

function problemOf(segments: readonly VoicedSegment[], parts: string): string | undefined {
  const limits = transcriptLimits;
  const words = segments.reduce((sum, segment) => sum + segment.words.length, 0);
  const name = segments.find(({ voice }) => charCount(voice) > limits.speakerNameChars)?.voice;
  if (segments.length > limits.segments) {
    return `has ${segments.length} ${parts}: at most ${limits.segments} are allowed`;
  }
  if (words > limits.words) return `has ${words} words; at most ${limits.words} are allowed`;
  if (name !== undefined) {
    return `names a speaker in ${charCount(name)} characters: at most ${limits.speakerNameChars} are allowed`;
  }
  if (new Set(segments.map(({ voice }) => voice)).size > limits.speakers) {
    return `names more than ${limits.speakers} speakers`;
  }
  return undefined;
}

/**
 * Assigns ids to names of speakers: the id that the caller sent for the name, or otherwise a
 * number.
 */
class Speakers {
  readonly names: Map<string, string>;
  readonly #ids: Map<string, string>;

  constructor(names: ReadonlyMap<string, string>) {
    this.names = new Map(names);
    this.#ids = new Map(Array.from(names, ([id, name]) => [name === "" ? id : name, id]));
  }

  idOf(name: string): string {
    if (name === "") return "";
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    let number = this.names.size + 1;
    while (this.names.has(`${number}`)) number += 1;
    this.#ids.set(name, `${number}`);
    this.names.set(`${number}`, name);
    return `${number}`;
  }
}

function packSpoken(segments: readonly SpokenSegment[]): PackedText {
  const texts = segments.flatMap(({ words }) => words.map(({ text }) => text));
  return {
    ...packJson(Buffer.from(spokenJson(segments))),
    textChars: texts.reduce((sum, text) => sum + charCount(text), 0),
    textBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  };
}

function packJson(json: Buffer) {
  return {
    sha256: createHash("sha256").update(json).digest(),
    jsonZstd: zstdCompressSync(json),
    jsonBytes: json.length,
  };
}
