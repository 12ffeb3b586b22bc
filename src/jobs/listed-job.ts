import {
  toJson,
  type DescMessage,
  type JsonObject,
  type JsonValue,
  type Registry,
} from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import { StatusSchema } from "../gen/google/rpc/status_pb.ts";
import {
  SpeakerInfoSchema,
  TranscriptMetadataSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs } from "../std/duration.ts";
import { jsonParse } from "../std/json-parse.ts";
import { type JobRow, statedModel } from "./stored-job.ts";
import { storedStatus } from "./stored-status.ts";

/**
 * Returns the JSON of a job in a list, as that of jobMessage(). It is built from the stored
 * metadata, which is proto3 JSON, since reading and writing fifty messages with the library takes
 * several times as long.
 */
export function listedJob(row: JobRow, registry: Registry, jobsBefore?: number): string {
  const model = statedModel(row);
  const transcriptId = row.transcript_id ?? (row.error === null ? row.content_transcript_id : null);
  return JSON.stringify({
    name: `transcriptjob/${row.id}`,
    state: row.state,
    progressPercent: row.progress_percent,
    startTime: timestampOf(row.started_at),
    lastUpdatedTime: timestampOf(row.updated_at),
    ...(transcriptId !== null && { transcript: `transcripts/${transcriptId}` }),
    ...(transcriptId === null &&
      row.error !== null && { error: toJson(StatusSchema, storedStatus(row.error), { registry }) }),
    transcriptMetadata: metadataOf(row),
    ...(row.upload_id !== null && { upload: `uploads/${row.upload_id}` }),
    ...(jobsBefore !== undefined && row.state === "PROCESSING" && { jobsBefore }),
    ...(row.new_version_of !== null && { newVersionOf: `transcripts/${row.new_version_of}` }),
    ...(model !== null && { model }),
  });
}

/** Whole seconds have no fraction in proto3 JSON. */
function timestampOf(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}

/** Returns the stored metadata, or empty metadata if it is damaged, with the duration if known. */
function metadataOf({ metadata, duration_ms: durationMs }: JobRow): JsonObject {
  const written = knownFields(metadataNames, parsed(metadata));
  const { speakers } = written;
  if (isObject(speakers)) {
    written["speakers"] = Object.fromEntries(
      Object.entries(speakers).map(([id, speaker]) => [id, knownFields(speakerNames, speaker)]),
    );
  }
  if (durationMs !== null) {
    written["recordingDuration"] = toJson(DurationSchema, durationFromMs(durationMs));
  }
  return written;
}

function parsed(text: string): JsonValue {
  try {
    return jsonParse(text);
  } catch {
    return null;
  }
}

const metadataNames = namesOf(TranscriptMetadataSchema);
const speakerNames = namesOf(SpeakerInfoSchema);

function namesOf({ fields }: DescMessage): readonly string[] {
  return fields.map(({ jsonName }) => jsonName);
}

/** Returns an object without the fields that a later version of the service has stored. */
function knownFields(names: readonly string[], stored: JsonValue | undefined): JsonObject {
  const known: JsonObject = {};
  if (!isObject(stored)) return known;
  for (const name of names) {
    const value = stored[name];
    if (value !== undefined && value !== null) known[name] = value;
  }
  return known;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
