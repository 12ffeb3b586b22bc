import { create } from "@bufbuild/protobuf";
import {
  TranscriptSchema,
  VersionSchema,
  type Segment,
  type Transcript,
  type Version,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { StoredTranscript, StoredVersion } from "./transcript-store.ts";

/** A transcript as it is answered (section 2.3). `uri`: where its media is for an hour, "" without media. */
export function transcriptMessage(
  { id, metadata, version }: Pick<StoredTranscript, "id" | "metadata" | "version">,
  uri: string,
  segments: Segment[],
): Transcript {
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
