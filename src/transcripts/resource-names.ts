import { idIn, isId } from "../std/ids.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/**
 * The id in transcripts/<id>. Throws what an absent transcript is answered with: a malformed name
 * names none.
 */
export function transcriptIdIn(name: string): string {
  const id = idIn("transcripts", name);
  if (id === undefined) throw transcriptNotFound(name);
  return id;
}

/** The ids in transcripts/<id>/versions/<id>. Throws what an absent version is answered with. */
export function versionIdsIn(name: string): { transcriptId: string; versionId: string } {
  const [transcripts, transcriptId = "", versions, versionId = "", ...rest] = name.split("/");
  const isName = transcripts === "transcripts" && versions === "versions" && rest.length === 0;
  if (!isName || !isId(transcriptId) || !isId(versionId)) throw versionNotFound(name);
  return { transcriptId, versionId };
}

/** decisions, Errors: somebody else's transcript is answered like one that does not exist. */
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
