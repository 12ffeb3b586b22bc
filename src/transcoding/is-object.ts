import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** Whether a JSON value is an object, and thus neither null nor a list. */
export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Returns an own field of a JSON object. Names that every object inherits, such as "constructor",
 * are not fields.
 */
export function ownField(json: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(json, name) ? json[name] : undefined;
}
