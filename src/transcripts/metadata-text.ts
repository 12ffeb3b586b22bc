import { fromJson, toJsonString } from "@bufbuild/protobuf";
import { sql } from "kysely";
import {
  TranscriptMetadataSchema,
  type TranscriptMetadata,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jsonParse } from "../std/json-parse.ts";

/** Selects a jsonb column as text, for metadataOf(). */
export function jsonText(column: string) {
  return sql<string>`${sql.ref(column)}::text`;
}

/** Reads stored metadata, as jsonText() selects it. */
export function metadataOf(text: string): TranscriptMetadata {
  return fromJson(TranscriptMetadataSchema, jsonParse(text), { ignoreUnknownFields: true });
}

/** Converts metadata to the text that is stored; metadataOf() reverses this. */
export function metadataText(metadata: TranscriptMetadata): string {
  return toJsonString(TranscriptMetadataSchema, metadata);
}
