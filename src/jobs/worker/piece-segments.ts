import { create } from "@bufbuild/protobuf";
import type { EngineWord } from "../../engines/protocol/engine.ts";
import type { Recognition } from "../../engines/protocol/recognizer.ts";
import { spreadWords } from "../../engines/protocol/spread-words.ts";
import {
  SegmentSchema,
  WordSchema,
  type Segment,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs } from "../../std/duration.ts";
import { storedConfidence } from "../../transcripts/segments.ts";

/** The position of a piece within a recording. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Converts the recognitions of a piece to segments, one for each utterance. Times are relative to
 * the start of the media, within the piece and in order. Every word includes the space before the
 * next one (§2.3).
 */
export function segmentsOfPiece(recognitions: readonly Recognition[], piece: Span): Segment[] {
  const segments: Segment[] = [];
  let recognizedMs = piece.startMs;
  for (const { isFinal, alternatives, audioEndMs } of recognitions) {
    const [best] = alternatives;
    if (!isFinal || !best || best.text.trim() === "") continue;
    const utterance = {
      startMs: recognizedMs,
      endMs: Math.max(recognizedMs, Math.min(Math.round(piece.startMs + audioEndMs), piece.endMs)),
    };
    const timed = best.words.filter(({ text }) => text.trim() !== "");
    const words =
      timed.length > 0
        ? placeWords(timed, piece.startMs, { startMs: recognizedMs, endMs: piece.endMs })
        : spreadWords(best.text, utterance);
    segments.push(segmentOf(words));
    recognizedMs = words.at(-1)?.endMs ?? recognizedMs;
  }
  return segments;
}

/**
 * Joins the segments of all pieces, in order, as the segments of one transcript. Only the very last
 * word has no space after it.
 */
export function joinSegments(pieces: readonly (readonly Segment[])[]): Segment[] {
  const segments = pieces.flat();
  const last = segments.at(-1)?.words.at(-1);
  if (last) last.word = last.word.trimEnd();
  return segments;
}

/**
 * Returns the words with times relative to the media. No word starts before the previous one or
 * lies outside `span`.
 */
function placeWords(words: readonly EngineWord[], offsetMs: number, span: Span): EngineWord[] {
  let at = span.startMs;
  return words.map(({ startMs, endMs, ...word }) => {
    const start = clamp(Math.round(offsetMs + startMs), at, span.endMs);
    at = clamp(Math.round(offsetMs + endMs), start, span.endMs);
    return { ...word, startMs: start, endMs: at };
  });
}

function segmentOf(words: readonly EngineWord[]): Segment {
  return create(SegmentSchema, {
    startTime: durationFromMs(words.at(0)?.startMs ?? 0),
    endTime: durationFromMs(words.at(-1)?.endMs ?? 0),
    words: words.map(({ text, startMs, endMs, confidence, estimatedTimes }) =>
      create(WordSchema, {
        startTime: durationFromMs(startMs),
        endTime: durationFromMs(endMs),
        word: `${text.trim().replaceAll(/\s+/g, " ")} `,
        ...(confidence !== undefined && { confidence: storedConfidence(confidence) }),
        ...(estimatedTimes && { estimatedTimes }),
      }),
    ),
  });
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, max));
}
