import { create } from "@bufbuild/protobuf";
import type { EngineWord } from "../../engines/protocol/engine.ts";
import type { Recognition } from "../../engines/protocol/recognizer.ts";
import {
  SegmentSchema,
  WordSchema,
  type Segment,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs } from "../../std/duration.ts";

/** Where a piece of a recording lies in it. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * The recognitions of a piece as segments, one for each utterance: times from the start of the
 * media, inside the piece and in order; every word with the space before the next one (§2.3).
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
 * Segments of all pieces, in order, as those of one transcript: only the very last word has no
 * space after it.
 */
export function joinSegments(pieces: readonly (readonly Segment[])[]): Segment[] {
  const segments = pieces.flat();
  const last = segments.at(-1)?.words.at(-1);
  if (last) last.word = last.word.trimEnd();
  return segments;
}

/** Words with times of the media, none before the one before it or outside `span`. */
function placeWords(words: readonly EngineWord[], offsetMs: number, span: Span): EngineWord[] {
  let at = span.startMs;
  return words.map(({ text, startMs, endMs }) => {
    const start = clamp(Math.round(offsetMs + startMs), at, span.endMs);
    at = clamp(Math.round(offsetMs + endMs), start, span.endMs);
    return { text, startMs: start, endMs: at };
  });
}

/** For engines without word times: the utterance's time in proportion to the letters. */
function spreadWords(text: string, span: Span): EngineWord[] {
  const words = text.trim().split(/\s+/);
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  const msOfLetters = (count: number): number =>
    Math.round(span.startMs + ((span.endMs - span.startMs) * count) / letters);
  let before = 0;
  return words.map((word) => {
    const startMs = msOfLetters(before);
    before += word.length;
    return { text: word, startMs, endMs: msOfLetters(before) };
  });
}

function segmentOf(words: readonly EngineWord[]): Segment {
  return create(SegmentSchema, {
    startTime: durationFromMs(words.at(0)?.startMs ?? 0),
    endTime: durationFromMs(words.at(-1)?.endMs ?? 0),
    words: words.map(({ text, startMs, endMs }) =>
      create(WordSchema, {
        startTime: durationFromMs(startMs),
        endTime: durationFromMs(endMs),
        word: `${text.trim().replaceAll(/\s+/g, " ")} `,
      }),
    ),
  });
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(value, max));
}
