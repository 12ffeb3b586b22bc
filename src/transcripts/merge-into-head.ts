import {
  TranscriptMetadata_FileType as FileType,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { checkMetadataSize } from "./check-metadata.ts";
import { throwViolations } from "./check-values.ts";
import { checkDictation, mergeMetadata, type Patch } from "./merge.ts";
import type { TranscriptHead, VersionContent } from "./transcript-changes.ts";

/**
 * Merges the metadata of a checked update into a head. Throws invalid_argument if it does not fit.
 */
export function mergeIntoHead(
  head: TranscriptHead,
  sent: TranscriptMetadata,
  patch: Patch,
): Pick<VersionContent, "metadata" | "declaresFileType"> {
  const fields = new Set(patch.fields);
  if (isSentBack(sent, patch, head)) fields.delete("fileType");
  const metadata = mergeMetadata(head.metadata, sent, fields);
  throwViolations([
    ...(fields.has("dictation") ? checkDictation(head.metadata, sent) : []),
    ...checkMetadataSize(metadata, head.metadata),
  ]);
  return { metadata, declaresFileType: fields.has("fileType") };
}

/**
 * Whether fileType is sent back as GET returned it, in which case it sets nothing. Before the media
 * is described, GET returns the value that was set earlier; a caller that sends only this value
 * sets it again.
 */
function isSentBack(sent: TranscriptMetadata, patch: Patch, head: TranscriptHead): boolean {
  if (head.mediaFileType) return sent.fileType === FileType[head.mediaFileType];
  const isAlone = patch.fields.size === 1 && !patch.segments;
  return !isAlone && sent.fileType === head.metadata.fileType;
}
