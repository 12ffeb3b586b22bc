import type { TimedWord, TimedWords } from "../../../cues/timed-words.ts";
import type {
  SegmentJson,
  WordJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../text/numbers.ts";

/** Returns the words of segments with times in whole milliseconds, as the service reads them. */
export function timedSegments(segments: readonly SegmentJson[]): TimedWords[] {
  return segments.map(({ speakerId = "", words = [] }) => ({
    speakerId,
    words: timedWords(words),
  }));
}

/** Returns words with times in whole milliseconds. */
export function timedWords(words: readonly WordJson[]): TimedWord[] {
  return words.map(({ word = "", startTime, endTime }) => ({
    text: word,
    startMs: msOf(startTime),
    endMs: msOf(endTime),
  }));
}

function msOf(duration: string | undefined): number {
  return Math.round(secondsOf(duration) * 1000);
}
