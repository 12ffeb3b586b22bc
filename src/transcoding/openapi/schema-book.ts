import type { DescEnum, DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { isOutputOnly, isRequired } from "../field-behavior.ts";
import { getOption } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import {
  changes_stored,
  emit_empty,
  emit_null,
  emit_unset_fields,
} from "../../gen/hlust/api/annotations_pb.ts";
import type { Comments } from "./comments.ts";
import type { Schema } from "./document.ts";
import { acceptedNames, withBounds, withCounts, withLimits } from "./limits.ts";
import { mapKeySchema, scalarSchemas, wellKnownSchema } from "./scalar-schema.ts";

/**
 * The use of a message, which determines the fields that can be absent: "request"; "patch", where
 * messages are merged field by field and nothing is required; "answer", without unset fields; and
 * "whole", an answer with its unset fields (hlust.api.emit_unset_fields).
 */
export type SchemaUse = "request" | "patch" | "answer" | "whole";

interface Entry {
  readonly type: DescMessage | DescEnum;
  readonly use: SchemaUse;
  readonly isRoot: boolean;
  schema: Schema;
}

const place = "#/components/schemas/";

/**
 * The JSON Schemas of messages. Each message has one schema per use. Other schemas refer to it with
 * $ref, so messages can be recursive. The final names are known only after all schemas have been
 * written, so finish() sets them.
 */
export class SchemaBook {
  readonly #comments: Comments;
  readonly #entries = new Map<string, Entry>();

  constructor(comments: Comments) {
    this.#comments = comments;
  }

  /**
   * Returns the schema for the whole body of a response. The options of the message determine which
   * unset fields the response shows.
   */
  answer(message: DescMessage): Schema {
    const use = getOption(message, emit_unset_fields) ? "whole" : "answer";
    const isRoot = message.fields.some((field) => getOption(field, emit_empty));
    return this.#message(message, use, isRoot);
  }

  message(message: DescMessage, use: SchemaUse): Schema {
    return this.#message(message, use, false);
  }

  /**
   * Returns the schema of a request message that is the body, without the fields that are in the
   * path.
   */
  bodyWithout(message: DescMessage, inPath: ReadonlySet<string>): Schema {
    if (!message.fields.some((field) => inPath.has(field.name)))
      return this.message(message, "request");
    return this.#object(message, "request", false, inPath);
  }

  /** Returns the schema of a field by itself, with its comment and limits. */
  field(field: DescField, use: SchemaUse): Schema {
    const schema = this.#value(field, use);
    const isNullable =
      field.fieldKind === "message" && getOption(field, emit_null) && use !== "answer";
    const description = this.#comments.of(field);
    return {
      ...(isNullable ? orNull(schema) : schema),
      ...(description !== "" && { description }),
      ...(isInput(use) && isOutputOnly(field) && { readOnly: true as const }),
    };
  }

  /**
   * Replaces the references in `value` and in every schema with the final names, which exclude the
   * reserved names.
   */
  finish<T>(
    value: T,
    reserved: ReadonlySet<string>,
  ): { value: T; schemas: Record<string, Schema> } {
    const names = namesOf(this.#entries, reserved);
    const entries = Array.from(this.#entries, ([key, { schema }]): [string, Schema] => [
      names.get(key) ?? key,
      renamed(schema, names),
    ]);
    entries.sort(([a], [b]) => (a < b ? -1 : 1));
    return { value: renamed(value, names), schemas: Object.fromEntries(entries) };
  }

  #message(message: DescMessage, use: SchemaUse, isRoot: boolean): Schema {
    const known = wellKnownSchema(message);
    if (known !== undefined) return known;
    return this.#entry(message, use, isRoot, () => this.#object(message, use, isRoot, new Set()));
  }

  #entry(
    type: DescMessage | DescEnum,
    use: SchemaUse,
    isRoot: boolean,
    write: () => Schema,
  ): Schema {
    const key = `${type.typeName}~${use}${isRoot ? "~root" : ""}`;
    if (!this.#entries.has(key)) {
      const entry: Entry = { type, use, isRoot, schema: {} };
      this.#entries.set(key, entry);
      entry.schema = write();
    }
    return { $ref: `${place}${key}` };
  }

  #object(
    message: DescMessage,
    use: SchemaUse,
    isRoot: boolean,
    without: ReadonlySet<string>,
  ): Schema {
    const fields = message.fields.filter(({ name }) => !without.has(name));
    const properties = fields.map((field) => [field.jsonName, this.field(field, use)] as const);
    const required = fields.filter((field) => isPresent(field, use, isRoot));
    const description = this.#comments.of(message);
    return {
      type: "object",
      ...(description !== "" && { description }),
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required: required.map(({ jsonName }) => jsonName) }),
      ...(isInput(use) && { additionalProperties: false }),
      ...atMostOne(message.oneofs),
    };
  }

  #value(field: DescField, use: SchemaUse): Schema {
    const isMerged = field.fieldKind === "message" && !isOutputOnly(field);
    // A field that is not merged is replaced as a whole, so it is written as in any other request.
    const item = this.#item(field, use === "patch" && !isMerged ? "request" : use);
    if (field.fieldKind !== "list" && field.fieldKind !== "map") return item;
    const names = field.fieldKind === "map" ? mapKeySchema(field.mapKey) : undefined;
    const schema: Schema =
      field.fieldKind === "list"
        ? { type: "array", items: item }
        : { type: "object", additionalProperties: item, ...(names && { propertyNames: names }) };
    return isInput(use) ? withCounts(field, schema) : schema;
  }

  #item(field: DescField, use: SchemaUse): Schema {
    if (field.enum !== undefined) return this.#enum(field, field.enum, use);
    const inside = use === "request" && getOption(field, changes_stored) ? "patch" : use;
    const schema = field.message
      ? this.message(field.message, inside)
      : withBounds(field, scalarSchemas[field.scalar]);
    return isInput(use) ? withLimits(field, schema) : schema;
  }

  #enum(field: DescField, type: DescEnum, use: SchemaUse): Schema {
    if (type.typeName === "google.protobuf.NullValue") return { type: "null" };
    const accepted = isInput(use) ? acceptedNames(field, type) : undefined;
    if (accepted !== undefined) return this.#names(type, new Set(accepted));
    return this.#entry(type, "answer", false, () => {
      const description = this.#comments.of(type);
      return { ...this.#names(type), ...(description !== "" && { description }) };
    });
  }

  #names(type: DescEnum, accepted?: ReadonlySet<string>): Schema {
    const values = type.values.filter(({ name }) => accepted?.has(name) ?? true);
    const texts = values.map((value) => [value.jsonName, this.#comments.of(value)] as const);
    return {
      type: "string",
      enum: values.map(({ jsonName }) => jsonName),
      "x-enumDescriptions": Object.fromEntries(texts.filter(([, text]) => text !== "")),
    };
  }
}

function isInput(use: SchemaUse): boolean {
  return use === "request" || use === "patch";
}

/** Whether a field is always present. */
function isPresent(field: DescField, use: SchemaUse, isRoot: boolean): boolean {
  if (use === "patch") return false;
  if (use === "request") return isRequired(field) && !isOutputOnly(field);
  if (isRoot && getOption(field, emit_empty)) return true;
  if (use === "answer") return false;
  if (field.fieldKind === "message") return getOption(field, emit_null);
  const isCounted = field.fieldKind === "list" || field.fieldKind === "map";
  return isCounted || field.presence === FeatureSet_FieldPresence.IMPLICIT;
}

/** Returns a schema that refuses two members of the same oneof. */
function atMostOne(oneofs: readonly DescOneof[]): Pick<Schema, "not"> {
  const pairs = oneofs.flatMap(({ fields }) =>
    fields.flatMap((one, at) =>
      fields.slice(at + 1).map((other): Schema => ({ required: [one.jsonName, other.jsonName] })),
    ),
  );
  if (pairs.length === 0) return {};
  return { not: pairs.length === 1 ? { ...pairs[0] } : { anyOf: pairs } };
}

function orNull(schema: Schema): Schema {
  return typeof schema.type === "string"
    ? { ...schema, type: [schema.type, "null"] }
    : { anyOf: [schema, { type: "null" }] };
}

const suffixes: Readonly<Record<SchemaUse, string>> = {
  whole: "",
  answer: "Partial",
  request: "Input",
  patch: "Patch",
};

/**
 * Returns the schema names. They are the proto names, without the package if that is unambiguous. A
 * message with several uses has a name for each. The plain name belongs to the use "whole" if it
 * occurs, or else to "answer", or else to "request".
 */
function namesOf(
  entries: ReadonlyMap<string, Entry>,
  reserved: ReadonlySet<string>,
): Map<string, string> {
  const all = Array.from(entries, ([key, entry]) => ({ key, ...entry }));
  const shortOf = ({ type }: Entry): string =>
    type.typeName.slice(type.file.proto.package.length).replace(/^\./, "");
  const names = new Map<string, string>();
  for (const entry of all) {
    const short = shortOf(entry);
    const isClear =
      !reserved.has(short) &&
      all.every((other) => other.type === entry.type || shortOf(other) !== short);
    const same = all.filter((other) => other.type === entry.type);
    const order: SchemaUse[] = ["whole", "answer", "request", "patch"];
    const plain = order.find((use) => same.some((other) => other.use === use));
    const suffix = entry.use === plain ? "" : suffixes[entry.use];
    // A message that is both a response and a part of another response shows different fields in
    // each case.
    const isInside = !entry.isRoot && same.some(({ use, isRoot }) => isRoot && use === entry.use);
    names.set(
      entry.key,
      `${isClear ? short : entry.type.typeName}${suffix}${isInside ? "Part" : ""}`,
    );
  }
  return names;
}

/** Returns a copy with the final names in every $ref. */
function renamed<T>(value: T, names: ReadonlyMap<string, string>): T {
  const text = JSON.stringify(value).replaceAll(
    /"\$ref":"#\/components\/schemas\/([^"]+)"/g,
    (_, key: string) => `"$ref":"${place}${names.get(key) ?? key}"`,
  );
  const copy: T = JSON.parse(text);
  return copy;
}
