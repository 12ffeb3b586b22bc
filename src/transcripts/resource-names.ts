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

/** Returns the id of the transcript in transcripts/<id>/draft; undefined for another form. */
export function draftTranscriptIdIn(name: string): string | undefined {
  const ending = "/draft";
  return name.endsWith(ending) ? idIn("transcripts", name.slice(0, -ending.length)) : undefined;
}

/** Returns the ids in transcripts/<id>/shares/<id>. Throws not_found, as for an absent share. */
export function shareIdsIn(name: string): { transcriptId: string; shareId: string } {
  const [transcripts, transcriptId = "", shares, shareId = "", ...rest] = name.split("/");
  const isName = transcripts === "transcripts" && shares === "shares" && rest.length === 0;
  if (!isName || !isId(transcriptId) || !isId(shareId)) throw shareNotFound(name);
  return { transcriptId, shareId };
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

export function draftNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no draft ${shown(name)}`, {
    reason: "DRAFT_NOT_FOUND",
  });
}

export function shareNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no share ${shown(name)}`, {
    reason: "SHARE_NOT_FOUND",
  });
}

export function versionNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no version ${shown(name)}`, {
    reason: "VERSION_NOT_FOUND",
  });
}
