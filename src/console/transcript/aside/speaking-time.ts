import type {
  SegmentJson,
  TranscriptMetadataJson,
} from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../../text/numbers.ts";

/** Somebody who speaks in a transcript. */
export interface SpeakerTime {
  readonly id: string;
  /** "" where nobody has named them. */
  readonly name: string;
  /** How long they speak in all. */
  readonly seconds: number;
}

/** Who speaks, in the order of their first words; then those who are named, but say nothing. */
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
    name: speakers[id]?.name?.trim() ?? "",
    seconds: seconds.get(id) ?? 0,
  }));
}
