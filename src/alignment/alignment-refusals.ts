import { alignmentNotSupported } from "../engines/protocol/alignment.ts";
import { ServiceError, shown } from "../std/service-error.ts";
import type { TranscriptMedia } from "../transcripts/transcript-store.ts";

/** Returns the error for a transcript that has no media, or whose media was deleted. */
export function withoutMedia({ durationMs }: Pick<TranscriptMedia, "durationMs">): ServiceError {
  const problem =
    durationMs === undefined ? "the transcript has no media" : "the transcript's media was deleted";
  return new ServiceError("failed_precondition", `${problem}, so its words cannot be aligned`, {
    reason: "TRANSCRIPT_WITHOUT_MEDIA",
  });
}

/** Returns the error for a transcript whose words are all missing or blank. */
export function withoutWords(): ServiceError {
  return new ServiceError("failed_precondition", "the transcript has no words to align", {
    reason: "TRANSCRIPT_WITHOUT_WORDS",
  });
}

/** Returns the error for a language that no installed model can align. */
export function notAligned(languageCode: string, installed: readonly string[]): ServiceError {
  return new ServiceError(
    "failed_precondition",
    `${shown(languageCode)} has no installed model that aligns words; installed: ${installed.join(", ") || "none"}`,
    { reason: alignmentNotSupported },
  );
}
