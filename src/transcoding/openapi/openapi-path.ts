import type { DescField } from "@bufbuild/protobuf";
import type { Binding } from "../http-rules.ts";
import type { Parameter } from "./document.ts";
import { isScalarInJson } from "../field-path.ts";
import { scalarSchemas, wellKnownSchema } from "./scalar-schema.ts";

/**
 * A path template in the OpenAPI form. For example, `/v1/{name=transcripts/*}:do` becomes
 * `/v1/transcripts/{transcript}:do`.
 */
export interface OpenApiPath {
  readonly template: string;
  readonly parameters: readonly Parameter[];
}

/**
 * Returns the path of a binding. A variable segment is named after the collection before it
 * (transcripts/* is {transcript}), or else after its field. OpenAPI has no parameter for several
 * segments, so the parameter for "**" is marked with x-multiSegment.
 */
export function openApiPath(binding: Binding): OpenApiPath {
  const { path } = binding;
  const names = namesOf(binding);
  const parts = path.segments.map((segment, at) =>
    segment.kind === "literal" ? escaped(segment.text) : `{${names.get(at) ?? ""}}`,
  );
  const verb = path.verb === "" ? "" : `:${escaped(path.verb)}`;
  return {
    template: `/${parts.join("/")}${verb}`,
    parameters: Array.from(names, ([at, name]): Parameter => {
      const spot = spotOf(binding, at);
      const isRest = path.segments[at]?.kind === "**";
      const description = describe(spot, isRest, parts.slice(spot.start, spot.end).join("/"));
      return {
        name,
        in: "path",
        required: true,
        ...(description !== "" && { description }),
        schema: schemaOf(spot),
        ...(isRest && { "x-multiSegment": true as const }),
      };
    }),
  };
}

/**
 * A variable segment, with the variable to which it belongs, if any. That variable has the segments
 * from `start` to `end`, exclusive.
 */
interface Spot {
  readonly start: number;
  readonly end: number;
  /** The variable's field path in proto names. */
  readonly fieldPath?: string;
  readonly field?: DescField;
}

function spotOf({ path, variables }: Binding, at: number): Spot {
  for (const [index, { start, end: last, fieldPath }] of path.variables.entries()) {
    const end = last === -1 ? path.segments.length : last;
    const field = variables[index]?.at(-1);
    if (start <= at && at < end && field)
      return { start, end, fieldPath: fieldPath.join("."), field };
  }
  return { start: at, end: at + 1 };
}

/** Whether the variable has no other segments. */
function isAlone({ start, end, field }: Spot): boolean {
  return field !== undefined && end - start === 1;
}

/** Returns the names of the variable segments by their index in the path. */
function namesOf(binding: Binding): Map<number, string> {
  const names = new Map<number, string>();
  let collection = "";
  for (const [at, segment] of binding.path.segments.entries()) {
    if (segment.kind === "literal") {
      collection = segment.text;
      continue;
    }
    names.set(at, unusedName(nameOf(collection, spotOf(binding, at)), new Set(names.values())));
    collection = "";
  }
  return names;
}

/**
 * Returns the shape of a template. In OpenAPI, templates with the same shape are one path, whatever
 * the names of their parameters.
 */
export function shapeOf(template: string): string {
  return template.replaceAll(/\{[^}]*\}/g, "{}");
}

function nameOf(collection: string, spot: Spot): string {
  const isName = /^[A-Za-z][A-Za-z0-9_]*$/.test(collection);
  if (isName && !isAlone(spot)) return singular(collection);
  return spot.field?.jsonName ?? "segment";
}

function singular(collection: string): string {
  if (collection.endsWith("ies")) return `${collection.slice(0, -3)}y`;
  return /[^s]s$/.test(collection) ? collection.slice(0, -1) : collection;
}

function unusedName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let count = 2; ; count++) if (!taken.has(`${name}${count}`)) return `${name}${count}`;
}

/**
 * Describes a parameter. `named` is the variable in the OpenAPI form, such as
 * "transcripts/{transcript}".
 */
function describe(spot: Spot, isRest: boolean, named: string): string {
  const parts: string[] = [];
  if (spot.fieldPath !== undefined) {
    const field = `\`${spot.fieldPath}\``;
    parts.push(isAlone(spot) ? `The field ${field}.` : `Part of ${field}, which is \`${named}\`.`);
  }
  if (isRest) parts.push("Any number of segments, with unescaped slashes between them.");
  return parts.join(" ");
}

/**
 * Returns the schema of a parameter. A variable of one segment has the schema of its field, and a
 * part of a variable is a string.
 */
function schemaOf(spot: Spot): Parameter["schema"] {
  const { field } = spot;
  if (field === undefined || !isAlone(spot)) return { type: "string" };
  if (field.message !== undefined && isScalarInJson(field.message)) {
    return wellKnownSchema(field.message) ?? { type: "string" };
  }
  return field.fieldKind === "scalar" ? scalarSchemas[field.scalar] : { type: "string" };
}

function escaped(literal: string): string {
  return encodeURIComponent(literal).replaceAll(
    /%(?:21|24|26|2B|2C|3B|3D|40)/g,
    decodeURIComponent,
  );
}
