import type {
  SegmentJson,
  TranscriptMetadataJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../text/numbers.ts";

/** A speaker of a transcript. */
export interface SpeakerTime {
  readonly id: string;
  /** The speaker's name; "" if the speaker has none. */
  readonly name: string;
  /** The speaker's total speaking time. */
  readonly seconds: number;
}

/**
 * Returns the speakers in the order of their first words, followed by named speakers without
 * segments.
 */
export function speakingTimes(
  segments: readonly SegmentJson[],
  speakers: TranscriptMetadataJson["speakers"] = {},
): SpeakerTime[] {
  const seconds = new Map<string, number>();
  for (const { speakerId = "", startTime, endTime } of segments) {
    if (speakerId === "") continue;
    const length = Math.max(0, secondsOf(endTime) - secondsOf(startTime));
    seconds.set(speakerId, (seconds.get(speakerId) ?? 0) + length);
  }
  const ids = new Set([...seconds.keys(), ...Object.keys(speakers)]);
  return Array.from(ids, (id) => ({
    id,
    name: speakers[id]?.fullName?.trim() ?? "",
    seconds: seconds.get(id) ?? 0,
  }));
}
