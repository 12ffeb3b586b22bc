import type { SubmitTranscriptJobRequestJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { keep, readKept } from "../api/kept.ts";
import type { JobDraft } from "./job-draft.ts";

/** The fields of a job that decide how its text is written. */
export type WrittenFields = Pick<
  SubmitTranscriptJobRequestJson,
  "enableAutomaticPunctuation" | "enableFormatting"
>;

const storedName = "hlust.written";

/** Returns whether the text of new jobs is written with capitals, punctuation and digits. */
export function readWritten(): boolean {
  return readKept(storedName) !== "off";
}

/** Returns the same of a draft: as the user has chosen in it, or else the last time. */
export function isWritten({ isWritten: chosen }: Pick<JobDraft, "isWritten">): boolean {
  return chosen ?? readWritten();
}

/** Remembers the choice in this browser. */
export function keepWritten(isWritten: boolean): void {
  keep(storedName, isWritten ? undefined : "off");
}

export function writtenFields(isWritten: boolean): WrittenFields {
  return isWritten ? { enableAutomaticPunctuation: true, enableFormatting: true } : {};
}
