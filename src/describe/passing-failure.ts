import { ServiceError } from "../std/service-error.ts";

/** Limits of the account, which last. */
const limitReasons: ReadonlySet<string> = new Set(["AUDIO_LIMIT", "STORAGE_LIMIT"]);

/**
 * Failures that another attempt may not have: a lost engine, a full disk. A fault of the media
 * stays, and the limits of an account are its owner's to raise.
 */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return true;
  return (
    (error.code === "unavailable" || error.code === "resource_exhausted") &&
    !error.reason.startsWith("MEDIA_") &&
    !limitReasons.has(error.reason)
  );
}
