import { create } from "@bufbuild/protobuf";
import {
  TranscriptMetadata_FileType as FileType,
  TranscriptSchema,
  VersionSchema,
  type Segment,
  type Transcript,
  type Version,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs, msOfDuration, timestampFromDate } from "../std/duration.ts";
import type { StoredTranscript, StoredVersion } from "./transcript-store.ts";

/** Where a transcript's media and its waveform are for an hour; "" where there is none. */
export interface MediaLinks {
  readonly uri: string;
  readonly waveformUri: string;
}

/**
 * How long the recording is of which a transcript shows this; undefined where that is not known.
 */
export function recordingMsOf({
  metadata: { recordingDuration },
  media: { durationMs, isFirst },
}: Pick<StoredTranscript, "metadata" | "media">): number | undefined {
  if (durationMs !== undefined || !isFirst || !recordingDuration) return durationMs;
  return msOfDuration(recordingDuration);
}

/**
 * A transcript as it is answered (section 2.3). Its metadata becomes the answer's: what is derived
 * from the media is set in it.
 */
export function transcriptMessage(
  stored: Omit<StoredTranscript, "segments">,
  { uri, waveformUri }: MediaLinks,
  segments: Segment[],
): Transcript {
  const { id, media, version } = stored;
  const { metadata } = stored;
  metadata.waveformUri = waveformUri;
  const { durationMs, fileType, isFirst } = media;
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

export function versionMessage({ id, parentId, createdAt }: StoredVersion): Version {
  return create(VersionSchema, {
    name: id,
    parent: parentId ?? "",
    creationTime: timestampFromDate(createdAt),
  });
}
