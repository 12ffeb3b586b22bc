import {
  create,
  toJson,
  type DescMessage,
  type JsonObject,
  type JsonValue,
} from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import {
  SpeakerInfoSchema,
  TranscriptMetadataSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { durationFromMs } from "../std/duration.ts";
import { jsonParse } from "../std/json-parse.ts";
import { isObject } from "../transcoding/is-object.ts";
import type { ListedTranscript } from "./transcript-lists.ts";
import type { MediaLinks } from "./transcript-message.ts";

/**
 * Returns the JSON of a transcript in a list, including unset fields (§2.3; docs/api.md, JSON). It
 * is built from the stored metadata, which is also proto3 JSON. Reading and writing fifty messages
 * with the library takes ten times as long, which is twice the time of everything else that a page
 * of a list needs.
 */
export function listedJson(
  { id, metadataJson, media, version }: ListedTranscript,
  { uri, waveformUri }: MediaLinks,
): string {
  const { durationMs, fileType, fileName } = media;
  const metadata = writtenMetadata(metadataJson);
  metadata["waveformUri"] = waveformUri;
  if (fileName !== "" && !originalSources.some((name) => name in metadata)) {
    metadata["originalFilename"] = fileName;
  }
  if (durationMs !== undefined) {
    metadata["recordingDuration"] = toJson(DurationSchema, durationFromMs(durationMs));
  } else if (!media.isFirst) metadata["recordingDuration"] = null;
  if (fileType !== undefined) metadata["fileType"] = fileType;
  return JSON.stringify({
    name: `transcripts/${id}`,
    metadata,
    segments: [],
    uri,
    version: {
      name: version.id,
      parent: version.parentId ?? "",
      // Whole seconds have no fraction in proto3 JSON.
      creationTime: version.createdAt.toISOString().replace(".000Z", "Z"),
      kind: version.kind ?? "KIND_UNSPECIFIED",
      author: version.author,
      authorName: version.authorName,
      note: version.note,
    },
  });
}

/** The fields of which metadata has at most one. */
const originalSources = ["originalFilename", "originalUri", "dictation"];

const unsetMetadata = unsetFields(TranscriptMetadataSchema);
const unsetSpeaker = unsetFields(SpeakerInfoSchema);

/**
 * The JSON that each unset field of a message has, in the order of the contract; undefined for the
 * fields of a oneof, which are absent if they are unset.
 */
function unsetFields(schema: DescMessage): Readonly<Record<string, JsonValue | undefined>> {
  const shown = objectOf(toJson(schema, create(schema), { alwaysEmitImplicit: true }));
  return Object.fromEntries(
    schema.fields.map(({ jsonName, oneof }) => [
      jsonName,
      oneof ? undefined : (shown[jsonName] ?? null),
    ]),
  );
}

/**
 * Returns the JSON with all fields of the contract, in the contract's order, without stored fields
 * of a later version of the service.
 */
function writtenFields(unset: ReturnType<typeof unsetFields>, stored: JsonObject): JsonObject {
  const written: JsonObject = {};
  for (const name in unset) {
    const value = stored[name] ?? unset[name];
    if (value !== undefined) written[name] = value;
  }
  return written;
}

function writtenMetadata(json: string): JsonObject {
  const stored = jsonParse(json);
  const written = writtenFields(unsetMetadata, objectOf(stored));
  const speakers = Object.entries(objectOf(written["speakers"]));
  written["speakers"] = Object.fromEntries(
    speakers.map(([id, speaker]) => [id, writtenFields(unsetSpeaker, objectOf(speaker))]),
  );
  return written;
}

function objectOf(json: JsonValue = null): JsonObject {
  return isObject(json) ? json : {};
}
