import { ServiceError } from "../std/service-error.ts";

/** The reasons for limits of the account, which another attempt would exceed again. */
const limitReasons: ReadonlySet<string> = new Set(["AUDIO_LIMIT", "STORAGE_LIMIT"]);

/**
 * Whether another attempt may succeed, for example after a lost engine or a full disk. It cannot
 * succeed after a fault of the media or at a limit of the account, which its owner has to raise.
 */
export function isPassingFailure(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return true;
  return (
    (error.code === "unavailable" || error.code === "resource_exhausted") &&
    !error.reason.startsWith("MEDIA_") &&
    !limitReasons.has(error.reason)
  );
}
