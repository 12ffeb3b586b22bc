import { ServiceError } from "../std/service-error.ts";

/** Limits of the account, which last. */
const limitReasons: ReadonlySet<string> = new Set(["AUDIO_LIMIT", "STORAGE_LIMIT"]);

/**
 * Failures that another try may not have: an engine that was lost, a full disk. What is wrong with
 * the media stays wrong, and what the account may not have is for its owner to see.
 */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return true;
  return (
    (error.code === "unavailable" || error.code === "resource_exhausted") &&
    !error.reason.startsWith("MEDIA_") &&
    !limitReasons.has(error.reason)
  );
}
