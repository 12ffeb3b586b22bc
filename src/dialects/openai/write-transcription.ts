import { deflateSync } from "node:zlib";
import { subtitlesOf } from "../../cues/subtitles.ts";
import type { SpokenSegment } from "../../transcripts/spoken.ts";
import { writeSrt } from "../../transcripts/subtitles/write-srt.ts";
import { writeVtt } from "../../transcripts/subtitles/write-vtt.ts";
import { nameOf } from "../language-of.ts";
import type { TranscribedRecording } from "../transcribe-recording.ts";
import type { TranscriptionFormat, TranscriptionWish } from "./read-wish.ts";

/** How an answer in a format is sent; see PatientAnswer. */
export interface FormatOfAnswer {
  readonly contentType: string;
  readonly opening?: string;
  readonly filler: string;
}

/** Clients take any answer whose type is not JSON as text. */
export const answerFormats: Readonly<Record<TranscriptionFormat, FormatOfAnswer>> = {
  json: { contentType: "application/json", filler: " " },
  verbose_json: { contentType: "application/json", filler: " " },
  diarized_json: { contentType: "application/json", filler: " " },
  text: { contentType: "text/plain; charset=utf-8", filler: "\n" },
  srt: { contentType: "text/plain; charset=utf-8", filler: "\n" },
  vtt: { contentType: "text/vtt; charset=utf-8", opening: "WEBVTT\n", filler: "\n" },
};

/** Returns a transcription in the format of the wish, without the opening of the format. */
export function writeTranscription(
  recording: TranscribedRecording,
  { format, granularities, languageCode }: Omit<TranscriptionWish, "streams" | "hints">,
): string {
  const { segments, durationMs } = recording;
  const text = textOf(segments);
  const duration = durationMs / 1000;
  const usage = { type: "duration", seconds: Math.ceil(duration) };
  switch (format) {
    case "json":
      return JSON.stringify({ text, usage });
    case "text":
      return `${text}\n`;
    case "srt":
      return writeSrt(subtitlesOf(segments, durationMs));
    case "vtt":
      return writeVtt(subtitlesOf(segments, durationMs), nameOfSpeaker).replace(/^WEBVTT\n/, "");
    case "verbose_json":
      return JSON.stringify({
        task: "transcribe",
        language: nameOf(languageCode),
        duration,
        text,
        ...(granularities.has("segment") && { segments: verboseSegments(segments) }),
        ...(granularities.has("word") && { words: segments.flatMap(wordsOf) }),
        usage,
      });
    case "diarized_json":
      return JSON.stringify({
        task: "transcribe",
        duration,
        text,
        segments: diarizedSegments(segments),
        usage,
      });
    default:
      return format satisfies never;
  }
}

/** Returns the text of segments in one line. */
export function textOf(segments: readonly SpokenSegment[]): string {
  return segments.map(textOfSegment).join(" ");
}

/** Returns the segments of diarized_json: speakers are A, B, ... in the order of their speech. */
export function diarizedSegments(segments: readonly SpokenSegment[]) {
  const ids = [...new Set(segments.map(({ speakerId }) => speakerId))];
  return segments.map((segment, index) => ({
    type: "transcript.text.segment",
    id: `seg_${`${index + 1}`.padStart(3, "0")}`,
    ...spanOf(segment),
    text: textOfSegment(segment),
    speaker: letterOf(ids.indexOf(segment.speakerId)),
  }));
}

/**
 * Returns the segments of verbose_json with all ten members, which typed clients require. The
 * models have no tokens: the confidence of words stands for the probabilities of tokens.
 */
export function verboseSegments(segments: readonly SpokenSegment[]) {
  return segments.map(verboseSegment);
}

function verboseSegment(segment: SpokenSegment, id: number) {
  const text = ` ${textOfSegment(segment)}`;
  return {
    id,
    seek: 0,
    ...spanOf(segment),
    text,
    tokens: [],
    temperature: 0,
    avg_logprob: Math.log(Math.max(1e-6, meanConfidence(segment))),
    compression_ratio: compressionRatio(text),
    no_speech_prob: 0,
  };
}

function wordsOf({ words }: SpokenSegment) {
  return words.map(({ text, startMs, endMs }) => ({
    word: text.trim(),
    start: startMs / 1000,
    end: endMs / 1000,
  }));
}

function textOfSegment({ words }: SpokenSegment): string {
  return words.map(({ text }) => text.trim()).join(" ");
}

function spanOf({ startMs, endMs }: SpokenSegment): {
  readonly start: number;
  readonly end: number;
} {
  return { start: startMs / 1000, end: endMs / 1000 };
}

function meanConfidence({ words }: SpokenSegment): number {
  const known = words.flatMap(({ confidence }) => (confidence === undefined ? [] : [confidence]));
  if (known.length === 0) return 1;
  return known.reduce((sum, each) => sum + each, 0) / known.length;
}

/** The measure by which Whisper's users find text that repeats itself. */
function compressionRatio(text: string): number {
  const bytes = Buffer.from(text);
  return bytes.length / deflateSync(bytes).length;
}

/** Returns A for 0, B for 1, ..., AA for 26. */
function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${letterOf(Math.floor(index / 26) - 1)}${letter}`;
}

function nameOfSpeaker(id: string): string {
  return id;
}
