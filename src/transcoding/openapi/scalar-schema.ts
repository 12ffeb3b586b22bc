import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import type { Schema } from "./document.ts";

const int32: Schema = { type: "integer", format: "int32" };
const uint32: Schema = { type: "integer", format: "uint32", minimum: 0, maximum: 0xffff_ffff };
const int64: Schema = { type: "string", format: "int64", pattern: "^-?[0-9]{1,19}$" };
const uint64: Schema = { type: "string", format: "uint64", pattern: "^[0-9]{1,20}$" };

/** The schemas of scalars in proto3 JSON: 64-bit integers are strings, and bytes are base64. */
export const scalarSchemas: Readonly<Record<ScalarType, Schema>> = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
  [ScalarType.FLOAT]: floatSchema("float"),
  [ScalarType.DOUBLE]: floatSchema("double"),
};

function floatSchema(format: string): Schema {
  const others: Schema = { type: "string", enum: ["NaN", "Infinity", "-Infinity"] };
  return { anyOf: [{ type: "number", format }, others] };
}

/** Returns the schema of a map key, which is a string in JSON, whatever its type. */
export function mapKeySchema(type: ScalarType): Schema | undefined {
  if (type === ScalarType.STRING) return undefined;
  if (type === ScalarType.BOOL) return { enum: ["true", "false"] };
  const isSigned = scalarSchemas[type].format?.startsWith("int");
  return { pattern: isSigned ? "^-?[0-9]{1,19}$" : "^[0-9]{1,20}$" };
}

/**
 * Returns the schema of a message whose JSON is not an object of its fields (proto3 JSON mapping of
 * google.protobuf); undefined for all other messages.
 */
export function wellKnownSchema(message: DescMessage): Schema | undefined {
  if (isWrapperDesc(message)) {
    const field = message.fields[0];
    return field.fieldKind === "scalar" ? scalarSchemas[field.scalar] : undefined;
  }
  return wellKnown[message.typeName];
}

const wellKnown: Readonly<Record<string, Schema>> = {
  "google.protobuf.Timestamp": {
    type: "string",
    format: "date-time",
    examples: ["2026-11-20T10:11:12.345Z"],
  },
  // The format "duration" is not used, since that is the format of ISO 8601.
  "google.protobuf.Duration": {
    type: "string",
    pattern: "^-?[0-9]{1,12}(?:\\.[0-9]{1,9})?s$",
    examples: ["1.500s"],
  },
  "google.protobuf.FieldMask": {
    type: "string",
    pattern: "^[^_]*$",
    examples: ["metadata.subject,segments"],
  },
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.ListValue": { type: "array", items: {} },
  "google.protobuf.Value": {},
  "google.protobuf.Any": {
    type: "object",
    description: "A message of the type that `@type` names, with its fields next to it.",
    properties: {
      "@type": { type: "string", examples: ["type.googleapis.com/google.rpc.ErrorInfo"] },
    },
    additionalProperties: true,
  },
};
