import { ServiceError } from "../std/service-error.ts";

/** Limits of the account, which another attempt would meet again. */
const limitReasons: ReadonlySet<string> = new Set(["AUDIO_LIMIT", "STORAGE_LIMIT"]);

/**
 * Whether another attempt may succeed: after a lost engine or a full disk, but not after a fault of
 * the media or at a limit of the account, which its owner has to raise.
 */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return true;
  return (
    (error.code === "unavailable" || error.code === "resource_exhausted") &&
    !error.reason.startsWith("MEDIA_") &&
    !limitReasons.has(error.reason)
  );
}
