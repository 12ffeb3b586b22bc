import { idIn } from "../../std/ids.ts";
import { ServiceError, shown } from "../../std/service-error.ts";

/**
 * Returns the id in blob/transcripts/<id>. Throws not_found for a malformed name, since no such
 * resource exists.
 */
export function blobTranscriptId(name: string): string {
  const id = name.startsWith("blob/") ? idIn("transcripts", name.slice("blob/".length)) : undefined;
  if (id === undefined) throw blobNotFound(name);
  return id;
}

export function blobNotFound(name: string): ServiceError {
  return new ServiceError("not_found", `there is no ${shown(name)}`, { reason: "BLOB_NOT_FOUND" });
}
