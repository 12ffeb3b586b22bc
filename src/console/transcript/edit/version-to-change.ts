import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SavedText } from "./edit-session.ts";

/**
 * Returns the version on which a session is saved: the current one, if only its metadata is new.
 */
export function versionToChange(saved: SavedText, current: TranscriptJson): string | undefined {
  return current.segments === saved.segments ? current.version?.name : saved.version;
}
