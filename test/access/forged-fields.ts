import {
  getOption,
  hasOption,
  ScalarType,
  type DescField,
  type DescMessage,
  type JsonValue,
} from "@bufbuild/protobuf";
import { field_behavior, FieldBehavior } from "../../src/gen/google/api/field_behavior_pb.ts";

/**
 * Returns the field of an update's request that contains the changes, or undefined for other
 * requests.
 */
export function changedField({ fields }: DescMessage) {
  if (!fields.some(({ name }) => name === "update_mask")) return undefined;
  return fields.find(({ fieldKind, name }) => fieldKind === "message" && name !== "update_mask");
}

/** Returns the output-only fields of a message, by their JSON names, with forged values. */
export function forgedFields(thing: DescMessage): [name: string, value: JsonValue][] {
  return thing.fields
    .filter((field) => isOutputOnly(field))
    .map((field) => [field.jsonName, forged(field)]);
}

function isOutputOnly(field: DescField): boolean {
  const behaviors = hasOption(field, field_behavior) ? getOption(field, field_behavior) : [];
  return behaviors.includes(FieldBehavior.OUTPUT_ONLY);
}

function forged(field: DescField): JsonValue {
  if (field.fieldKind === "scalar") return forgedScalar(field.scalar);
  if (field.fieldKind === "enum") return field.enum.values.at(-1)?.name ?? "";
  if (field.fieldKind === "list" && field.listKind === "scalar") return ["account"];
  if (field.fieldKind !== "message") throw new Error(`${field.name} needs a forged value`);
  if (field.message.typeName === "google.protobuf.Timestamp") return "2001-01-01T00:00:00Z";
  const { fields } = field.message;
  return Object.fromEntries(fields.map((inner) => [inner.jsonName, forged(inner)]));
}

function forgedScalar(type: ScalarType): JsonValue {
  if (type === ScalarType.STRING) return "forged";
  return type === ScalarType.BOOL ? true : 7;
}
