import { ServiceError, type FieldViolation } from "../std/service-error.ts";

/**
 * Throws aborted if an If-Match header is present but does not name the current version. This is an
 * extension of the specification (docs/api.md, Transcripts: Update). Quotes can be omitted; weak
 * tags match nothing (RFC 9110, section 13.1.1).
 */
export function checkIfMatch(header: string | null, currentVersionId: string): void {
  if (header === null) return;
  if (entityTags(header).some((name) => name === "*" || name === currentVersionId)) return;
  throw staleVersion(currentVersionId);
}

/**
 * Returns the id of the version in an If-Match header that is required and names one version, or
 * the violation of a header that does not.
 */
export function requireVersion(header: string | null): {
  readonly versionId: string;
  readonly violations: readonly FieldViolation[];
} {
  const versionId = header?.trim().replace(/^"(.*)"$/, "$1") ?? "";
  const isOne = versionId !== "" && versionId !== "*" && !versionId.includes(",");
  const description =
    header === null
      ? "is required: the id of the version that the changes refer to"
      : "must be the id of one version";
  return { versionId, violations: isOne ? [] : [{ field: "If-Match", description }] };
}

/** Returns the tags in an If-Match header, without their quotes. */
export function entityTags(header: string): readonly string[] {
  return header.split(",").map((name) => name.trim().replace(/^"(.*)"$/, "$1"));
}

/** Returns the error for a version that is no longer the current one. */
export function staleVersion(currentVersionId: string): ServiceError {
  return new ServiceError(
    "aborted",
    `the transcript has changed: its current version is ${currentVersionId}`,
    { reason: "VERSION_STALE", metadata: { currentVersion: currentVersionId } },
  );
}
