import { idIn, isId } from "../std/ids.ts";
import { jobNotFound } from "../jobs/job-name.ts";

/** A transcript, or one of its versions. */
export interface TranscriptRef {
  readonly transcriptId: string;
  /** undefined if the name is that of the transcript. */
  readonly versionId: string | undefined;
}

/**
 * Reads transcripts/<id> and transcripts/<id>/versions/<id>, which clients of the original service
 * write with `version`. Returns undefined for any other text.
 */
export function transcriptRefIn(name: string): TranscriptRef | undefined {
  const [transcripts, transcriptId = "", versions, versionId = "", ...rest] = name.split("/");
  if (transcripts !== "transcripts" || !isId(transcriptId) || rest.length > 0) return undefined;
  if (versions === undefined) return { transcriptId, versionId: undefined };
  const isVersion = (versions === "versions" || versions === "version") && isId(versionId);
  return isVersion ? { transcriptId, versionId } : undefined;
}

/**
 * Returns the id in alignmentjobs/<id>. Throws if the name is malformed, since no such job exists.
 */
export function alignmentJobIdIn(name: string): string {
  const id = idIn("alignmentjobs", name);
  if (id === undefined) throw jobNotFound(name);
  return id;
}
