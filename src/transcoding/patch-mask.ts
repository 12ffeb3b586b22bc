import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { hasCustomJsonRepresentation } from "@bufbuild/protobuf/wkt";
import { isOutputOnly } from "./field-behavior.ts";
import { isObject } from "./is-object.ts";
import { fieldNamedInJson } from "./field-path.ts";

/**
 * Returns the fields that a JSON body names, as paths of a google.protobuf.FieldMask in proto
 * names. These fields are the changes of a PATCH. The message alone does not show them, since an
 * empty list looks like an absent list. A singular message has the paths of its fields, or its own
 * path if it is empty. Lists, maps and scalars have one path. A null field counts as absent (proto3
 * JSON). Unknown names are omitted. Output-only fields are also omitted, since clients send back
 * resources that they have read.
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
