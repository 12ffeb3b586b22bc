import type { SpeakerInfoJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/**
 * Returns the name of a speaker; undefined if the speaker has none. Callers choose speaker ids, so
 * an id may be "constructor" or a similar property name.
 */
export function speakerName(
  speakers: Readonly<Record<string, SpeakerInfoJson>>,
  id: string,
): string | undefined {
  return Object.hasOwn(speakers, id) ? speakers[id]?.fullName : undefined;
}
