import { create } from "@bufbuild/protobuf";
import {
  TranscriptMetadata_FileType as FileType,
  TranscriptSchema,
  Version_Kind as Kind,
  VersionSchema,
  type Segment,
  type Transcript,
  type Version,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, msOfDuration, timestampFromDate } from "../std/duration.ts";
import type { StoredTranscript, StoredVersion } from "./transcript-store.ts";

/**
 * Signed URLs of a transcript's media and waveform, valid for an hour; "" if there is no media or
 * waveform.
 */
export interface MediaLinks {
  readonly uri: string;
  readonly waveformUri: string;
}

/** Returns the length of a transcript's recording, or undefined if unknown. */
export function recordingMsOf({
  metadata: { recordingDuration },
  media: { durationMs, isFirst },
}: Pick<StoredTranscript, "metadata" | "media">): number | undefined {
  if (durationMs !== undefined || !isFirst || !recordingDuration) return durationMs;
  return msOfDuration(recordingDuration);
}

/**
 * Creates the message of a transcript (§2.3). The stored metadata becomes part of the message, and
 * the fields in it that are derived from the media are set here.
 */
export function transcriptMessage(
  stored: Omit<StoredTranscript, "segments">,
  { uri, waveformUri }: MediaLinks,
  segments: Segment[],
): Transcript {
  const { id, media, version } = stored;
  const { metadata } = stored;
  metadata.waveformUri = waveformUri;
  const { durationMs, fileType, isFirst, fileName } = media;
  if (fileName !== "" && metadata.originalSource.case === undefined) {
    metadata.originalSource = { case: "originalFilename", value: fileName };
  }
  if (durationMs !== undefined) metadata.recordingDuration = durationFromMs(durationMs);
  else if (!isFirst) delete metadata.recordingDuration;
  if (fileType !== undefined) metadata.fileType = FileType[fileType];
  return create(TranscriptSchema, {
    name: `transcripts/${id}`,
    metadata,
    segments,
    uri,
    version: versionMessage(version),
  });
}

export function versionMessage(version: StoredVersion): Version {
  const { id, parentId, createdAt, kind, author, authorName, note } = version;
  return create(VersionSchema, {
    name: id,
    parent: parentId ?? "",
    creationTime: timestampFromDate(createdAt),
    kind: Kind[kind ?? "KIND_UNSPECIFIED"],
    author,
    authorName,
    note,
  });
}
