import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";

/**
 * The reason why a field path is invalid. `problem` is a text for users that names the invalid
 * part.
 */
export interface BrokenPath {
  readonly problem: string;
}

interface FieldNames {
  readonly proto: ReadonlyMap<string, DescField>;
  /** The fields by JSON name and by proto name. JSON names take precedence. */
  readonly either: ReadonlyMap<string, DescField>;
}

const names = new WeakMap<DescMessage, FieldNames>();

function namesOf(message: DescMessage): FieldNames {
  let known = names.get(message);
  if (known === undefined) {
    const proto = new Map(message.fields.map((field) => [field.name, field]));
    const json = message.fields.map((field): [string, DescField] => [field.jsonName, field]);
    known = { proto, either: new Map([...proto, ...json]) };
    names.set(message, known);
  }
  return known;
}

/** Finds a field by its proto name, as used in HTTP rules. */
export function fieldNamed(message: DescMessage, name: string): DescField | undefined {
  return namesOf(message).proto.get(name);
}

/** Finds a field by its JSON name or its proto name, as clients can write either. */
export function fieldNamedInJson(message: DescMessage, name: string): DescField | undefined {
  return namesOf(message).either.get(name);
}

const messagesWrittenAsScalars: ReadonlySet<string> = new Set([
  "google.protobuf.Timestamp",
  "google.protobuf.Duration",
  "google.protobuf.FieldMask",
]);

/**
 * Whether the JSON of a message is a single string, number or boolean, so that the message can be
 * in a path or a query.
 */
export function isScalarInJson(message: DescMessage): boolean {
  return messagesWrittenAsScalars.has(message.typeName) || isWrapperDesc(message);
}

/**
 * Returns the fields on a dotted path, from the request message down. All fields except the last
 * must be singular messages. The last must be a scalar, an enum or a message that is a scalar in
 * JSON. If `lists` is true, it can also be a list of such values.
 */
export function resolveFieldPath(
  root: DescMessage,
  path: readonly string[],
  options: { readonly names: "proto" | "json"; readonly lists: boolean },
): DescField[] | BrokenPath {
  const fields: DescField[] = [];
  let message: DescMessage | undefined = root;
  for (const [index, name] of path.entries()) {
    if (message === undefined) return { problem: `${quoted(path, index)} has no fields` };
    const { proto, either } = namesOf(message);
    const field = (options.names === "proto" ? proto : either).get(name);
    if (field === undefined) {
      return { problem: `${message.name} has no field ${JSON.stringify(name.slice(0, 60))}` };
    }
    fields.push(field);
    if (index < path.length - 1 && (field.fieldKind === "list" || field.fieldKind === "map")) {
      return { problem: `${quoted(path, index + 1)} is repeated` };
    }
    message =
      field.fieldKind === "message" && !isScalarInJson(field.message) ? field.message : undefined;
  }
  const last = fields.at(-1);
  const problem = last === undefined ? "it is empty" : leafProblem(last, options.lists);
  return problem === undefined ? fields : { problem };
}

function leafProblem(field: DescField, lists: boolean): string | undefined {
  if (field.fieldKind === "map") return "it is a map";
  if (field.fieldKind === "list") {
    if (!lists) return "it is repeated";
    return field.listKind === "message" && !isScalarInJson(field.message)
      ? "it is a list of messages"
      : undefined;
  }
  return field.fieldKind === "message" && !isScalarInJson(field.message)
    ? "it is a message"
    : undefined;
}

function quoted(path: readonly string[], length: number): string {
  const text = path.slice(0, length).join(".");
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
