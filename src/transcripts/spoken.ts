import type { SegmentJson, WordJson } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/**
 * A word of a transcript as plain data, which can be sent between threads. Times are whole
 * milliseconds.
 */
export interface SpokenWord {
  /** The word, including the whitespace before the next word (§2.3). */
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** From 0 to 1; absent if unknown. */
  readonly confidence?: number;
  /** The spoken words that the word stands for; absent if it is written as it was spoken. */
  readonly spoken?: string;
  /** Whether the times are estimated. */
  readonly estimatedTimes?: true;
}

/** A segment of a transcript. The words are ordered by their start. */
export interface SpokenSegment {
  readonly startMs: number;
  readonly endMs: number;
  /** The id of the speaker; empty if unknown. */
  readonly speakerId: string;
  readonly words: readonly SpokenWord[];
}

/** Returns the segments of a stored JSON array (segments.ts). */
export function spokenSegments(json: string): SpokenSegment[] {
  const segments: SegmentJson[] = JSON.parse(json);
  return segments.map(({ startTime, endTime, speakerId = "", words = [] }) => ({
    startMs: msOf(startTime),
    endMs: msOf(endTime),
    speakerId,
    words: words.map(spokenWord),
  }));
}

function spokenWord(json: WordJson): SpokenWord {
  const { startTime, endTime, word = "", confidence, spoken, estimatedTimes } = json;
  return {
    text: word,
    startMs: msOf(startTime),
    endMs: msOf(endTime),
    ...(typeof confidence === "number" && { confidence }),
    ...(spoken !== undefined && { spoken }),
    ...(estimatedTimes === true && { estimatedTimes }),
  };
}

/**
 * Reverses spokenSegments(): writes the JSON of segments in stored form, including unset fields.
 */
export function spokenJson(segments: readonly SpokenSegment[]): string {
  return JSON.stringify(
    segments.map(({ startMs, endMs, speakerId, words }) => ({
      startTime: durationOf(startMs),
      endTime: durationOf(endMs),
      words: words.map(({ text, startMs, endMs, confidence, spoken, estimatedTimes }) => ({
        startTime: durationOf(startMs),
        endTime: durationOf(endMs),
        word: text,
        // JSON.stringify() leaves out undefined.
        confidence,
        spoken,
        estimatedTimes,
      })),
      speakerId,
    })),
  );
}

function durationOf(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return ms % 1000 === 0 ? `${seconds}s` : `${seconds}.${`${ms % 1000}`.padStart(3, "0")}s`;
}

/** Returns the milliseconds of a duration in proto3 JSON, such as "1.500s". */
function msOf(duration = "0s"): number {
  return Math.round(Number.parseFloat(duration) * 1000);
}
