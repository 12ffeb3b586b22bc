import { fromJson, toJsonString } from "@bufbuild/protobuf";
import { sql } from "kysely";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jsonParse } from "../std/json-parse.ts";

/** A jsonb column as text, which the protobuf library parses. */
export function jsonText(column: string) {
  return sql<string>`${sql.ref(column)}::text`;
}

/** TranscriptMetadata from jsonText(). */
export function metadataOf(text: string): TranscriptMetadata {
  return fromJson(TranscriptMetadataSchema, jsonParse(text), { ignoreUnknownFields: true });
}

/** The inverse of metadataOf(). */
export function metadataText(metadata: TranscriptMetadata): string {
  return toJsonString(TranscriptMetadataSchema, metadata);
}
