import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import { isOutputOnly } from "./field-behavior.ts";
import { isObject } from "./is-object.ts";
import { fieldNamedInJson } from "./field-path.ts";

/**
 * The fields that a JSON body names, as paths of a google.protobuf.FieldMask (proto names): the
 * changes of a PATCH, because an empty list leaves no trace in a message. Singular messages are
 * followed to their fields, an empty one counts itself; lists, maps and scalars count as a whole.
 * Null is unset (proto3 JSON): the same as absent. Unknown names are left out, and so are
 * output-only fields, which clients send back with a resource that they have read.
 */
export function fieldPathsIn(message: DescMessage, json: JsonValue): string[] {
  if (!isObject(json)) return [];
  const paths = new Set<string>();
  for (const [name, value] of Object.entries(json)) {
    const field = fieldNamedInJson(message, name);
    if (field === undefined || value === null || isOutputOnly(field)) continue;
    const below = isFollowed(field) ? fieldPathsIn(field.message, value) : [];
    if (below.length === 0) paths.add(field.name);
    for (const path of below) paths.add(`${field.name}.${path}`);
  }
  return [...paths];
}

function isFollowed(field: DescField): field is DescField & { fieldKind: "message" } {
  return field.fieldKind === "message" && !hasCustomJsonRepresentation(field.message);
}
