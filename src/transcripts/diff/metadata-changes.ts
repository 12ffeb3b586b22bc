import { create, fromJson, toJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  MetadataChangeSchema,
  TranscriptMetadataSchema,
  type MetadataChange,
  type TranscriptMetadata,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/**
 * Returns the fields that differ between the metadata of two versions, in the order of the
 * contract. Maps are compared key by key.
 */
export function metadataChanges(
  before: TranscriptMetadata,
  after: TranscriptMetadata,
): MetadataChange[] {
  const [one, other] = [facts(before), facts(after)];
  const fields = TranscriptMetadataSchema.fields.flatMap(({ jsonName, fieldKind }) => {
    if (fieldKind !== "map") return [{ name: jsonName, path: [jsonName] }];
    const keys = new Set([...keysOf(one[jsonName]), ...keysOf(other[jsonName])]);
    return Array.from(keys, (key) => ({ name: `${jsonName}.${key}`, path: [jsonName, key] }));
  });
  return fields.flatMap(({ name, path }) => {
    const [value, againstValue] = [valueAt(other, path), valueAt(one, path)];
    if (JSON.stringify(value) === JSON.stringify(againstValue)) return [];
    return [
      create(MetadataChangeSchema, {
        field: name,
        value: fromJson(ValueSchema, value),
        againstValue: fromJson(ValueSchema, againstValue),
      }),
    ];
  });
}

function facts(metadata: TranscriptMetadata): JsonObject {
  return objectOf(toJson(TranscriptMetadataSchema, metadata));
}

function objectOf(value: JsonValue | undefined): JsonObject {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? value : {};
}

function keysOf(map: JsonValue | undefined): string[] {
  return Object.keys(objectOf(map)).toSorted();
}

function valueAt(object: JsonObject, path: readonly string[]): JsonValue {
  let value: JsonValue = object;
  for (const step of path) {
    const inside: JsonObject = objectOf(value);
    value = Object.hasOwn(inside, step) ? (inside[step] ?? null) : null;
  }
  return value;
}
