import { idIn, isId } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/**
 * Returns the id in transcripts/<id>. Throws not_found for a malformed name, as for an absent
 * transcript.
 */
export function transcriptIdIn(name: string): string {
  const id = idIn("transcripts", name);
  if (id === undefined) throw transcriptNotFound(name);
  return id;
}

/**
 * Returns the ids in transcripts/<id>/versions/<id>. Throws not_found, as for an absent version.
 */
export function versionIdsIn(name: string): { transcriptId: string; versionId: string } {
  const [transcripts, transcriptId = "", versions, versionId = "", ...rest] = name.split("/");
  const isName = transcripts === "transcripts" && versions === "versions" && rest.length === 0;
  if (!isName || !isId(transcriptId) || !isId(versionId)) throw versionNotFound(name);
  return { transcriptId, versionId };
}

/**
 * Returns the error for a transcript that does not exist or belongs to another account
 * (docs/api.md, Errors).
 */
export function transcriptNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no transcript ${shown(name)}`, {
    reason: "TRANSCRIPT_NOT_FOUND",
  });
}

export function versionNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no version ${shown(name)}`, {
    reason: "VERSION_NOT_FOUND",
  });
}
