import type { SubmitTranscriptJobRequestJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { keep, readKept } from "../api/kept.ts";

/** The fields of a job that decide how its text is written. */
export type WrittenFields = Pick<
  SubmitTranscriptJobRequestJson,
  "enableAutomaticPunctuation" | "enableFormatting"
>;

const storedName = "hlust.written";

/**
 * Returns whether the text of new jobs is written with capitals, punctuation and digits: as the
 * user chose last in this browser, or else as the account's defaults say.
 */
export function readWritten(ofAccount = true): boolean {
  const kept = readKept(storedName);
  return kept === undefined ? ofAccount : kept !== "off";
}

/** Remembers the choice in this browser, unless it is that of the account's defaults. */
export function keepWritten(isWritten: boolean, ofAccount: boolean): void {
  keep(storedName, isWritten === ofAccount ? undefined : isWritten ? "on" : "off");
}

export function writtenFields(isWritten: boolean): WrittenFields {
  return isWritten ? { enableAutomaticPunctuation: true, enableFormatting: true } : {};
}
