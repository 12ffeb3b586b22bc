import { ServiceError } from "../std/service-error.ts";

/**
 * Throws aborted if an If-Match header is present but does not name the current version. This is an
 * extension of the specification (docs/api.md, Transcripts: Update). Quotes can be omitted; weak
 * tags match nothing (RFC 9110, section 13.1.1).
 */
export function checkIfMatch(header: string | null, currentVersionId: string): void {
  if (header === null) return;
  const names = header.split(",").map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
  if (names.some((name) => name === "*" || name === currentVersionId)) return;
  throw staleVersion(currentVersionId);
}

/** Returns the error for a version that is no longer the current one. */
export function staleVersion(currentVersionId: string): ServiceError {
  return new ServiceError(
    "aborted",
    `the transcript has changed: its current version is ${currentVersionId}`,
    { reason: "VERSION_STALE", metadata: { currentVersion: currentVersionId } },
  );
}
