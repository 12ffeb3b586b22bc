import type { Schema } from "../../transcoding/openapi/document.ts";
import { html, type Html } from "./html.ts";
import { inline, prose } from "./prose.ts";

type Schemas = Readonly<Record<string, Schema>>;

const place = "#/components/schemas/";

/** Returns the name that a schema refers to. */
export function nameOfRef(schema: Schema): string | undefined {
  return schema.$ref?.startsWith(place) ? schema.$ref.slice(place.length) : undefined;
}

/** Returns the anchor of a schema's description on the page. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** Returns the schema behind a reference, with the keywords next to the reference. */
function resolved(schema: Schema, schemas: Schemas): Schema {
  const name = nameOfRef(schema);
  if (name === undefined) return schema;
  const { $ref: _, ...siblings } = schema;
  return { ...schemas[name], ...siblings };
}

/**
 * Shows the fields of an object, each with its type, limits and description. Returns undefined if
 * there are none.
 */
export function fieldsView(schema: Schema, schemas: Schemas): Html | undefined {
  const { properties = {}, required = [], additionalProperties } = resolved(schema, schemas);
  const names = Object.keys(properties);
  if (names.length === 0) return undefined;
  const isRequest = additionalProperties === false;
  // If every field is always present, one note replaces the marks.
  const isWhole = !isRequest && names.length > 1 && names.every((name) => required.includes(name));
  const mark = isRequest ? "required" : isWhole ? "" : "always";
  const rows = Object.entries(properties).map(([name, field]) =>
    fieldView(name, field, required.includes(name) ? mark : "", schemas),
  );
  const note = isWhole ? html`<p class="limits">Every field is always there.</p>` : undefined;
  return html`<dl class="fields">${rows}</dl>
    ${note}`;
}

/**
 * Shows one field or parameter. `mark` is a word for a special property of the field, such as
 * "required". The fields of an unnamed object are nested in it.
 */
export function fieldView(name: string, schema: Schema, mark: string, schemas: Schemas = {}): Html {
  const note = schema.readOnly === true ? "read only" : mark;
  const { properties } = schema.items ?? schema;
  return html`<div>
    <dt>
      <code>${name}</code>
      <span class="type">${typeView(schema)}</span
      >${note === "" ? "" : html` <span class="mark">${note}</span>`}
    </dt>
    <dd>
      ${prose(schema.description)}${constantView(schema)}${limitsView(schema)}${valuesView(schema)}${properties && fieldsView(schema.items ?? schema, schemas)}
    </dd>
  </div>`;
}

function constantView({ const: fixed }: Schema): Html | undefined {
  if (fixed === undefined) return undefined;
  return html`<p>
    Always <code>${typeof fixed === "string" ? fixed : JSON.stringify(fixed)}</code>.
  </p>`;
}

/** Describes the type in words. Names link to their descriptions. */
export function typeView(schema: Schema): Html {
  const name = nameOfRef(schema);
  if (name !== undefined) return html`<a href="#${schemaAnchor(name)}">${name}</a>`;
  const { type, anyOf, oneOf, items, additionalProperties } = schema;
  if (items !== undefined) return html`list of ${typeView(items)}`;
  if (typeof additionalProperties === "object")
    return html`map to ${typeView(additionalProperties)}`;
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) {
    return html`${choices.map((choice, at) => html`${at === 0 ? "" : " or "}${typeView(choice)}`)}`;
  }
  if (Array.isArray(type)) {
    const [first = "", ...rest]: string[] = type;
    return html`${scalarName({ ...schema, type: first })}${rest.map((other) => html` or ${other}`)}`;
  }
  return html`${scalarName(schema)}`;
}

function scalarName({
  type,
  format,
  pattern,
  contentEncoding,
  const: fixed,
  enum: values,
  "x-enumDescriptions": texts,
}: Schema): string {
  if (fixed !== undefined) return typeof fixed;
  if (contentEncoding !== undefined) return contentEncoding;
  if (format === "date-time") return "timestamp";
  if (pattern?.endsWith("s$")) return "duration";
  if (pattern === "^[^_]*$") return "field mask";
  if (format === "int64" || format === "uint64") return format;
  if (values !== undefined && texts !== undefined) return "enum";
  return typeof type === "string" ? type : "any";
}

function limitsView(schema: Schema): Html | undefined {
  const texts = [...limitsOf(schema), ...itemLimits(schema)];
  return texts.length === 0 ? undefined : html`<p class="limits">${texts.join("; ")}.</p>`;
}

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, maxProperties } = schema;
  const least = minimum?.toLocaleString("en") ?? schema["x-minimum"];
  const most = maximum?.toLocaleString("en") ?? schema["x-maximum"];
  const texts: string[] = [];
  if (least !== undefined && most !== undefined) texts.push(`${least} to ${most}`);
  else if (least !== undefined) texts.push(`At least ${least}`);
  else if (most !== undefined) texts.push(`At most ${most}`);
  if (maxLength !== undefined) texts.push(`At most ${count(maxLength, "character")}`);
  else if (minLength !== undefined) texts.push("Not empty");
  if (maxItems !== undefined) texts.push(`At most ${count(maxItems, "item")}`);
  if (maxProperties !== undefined)
    texts.push(`At most ${count(maxProperties, "entry", "entries")}`);
  return texts;
}

/** Returns the limits on a list's items and on a map's keys and values. */
function itemLimits({ items, additionalProperties, propertyNames }: Schema): string[] {
  const value = typeof additionalProperties === "object" ? additionalProperties : undefined;
  const of = (what: string, schema: Schema | undefined): string[] =>
    limitsOf(schema ?? {}).map((text) => `${what} ${text.charAt(0).toLowerCase()}${text.slice(1)}`);
  return [...of("each", items), ...of("keys", propertyNames), ...of("values", value)];
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Shows the values of an enum, with their meanings if known. */
function valuesView(schema: Schema): Html | undefined {
  const { enum: values, "x-enumDescriptions": texts = {} } = schema.items ?? schema;
  if (values === undefined) return undefined;
  const rows = values.map((value) => {
    const name = typeof value === "string" ? value : JSON.stringify(value);
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    return html`<li><code>${name}</code>${text === undefined ? "" : html` ${inline(text)}`}</li>`;
  });
  return html`<ul class="values">
    ${rows}
  </ul>`;
}

/** Shows the full description of a schema, below its name. */
export function schemaView(schema: Schema, schemas: Schemas): Html {
  const choices = (schema.oneOf ?? []).map((choice) => fieldsView(choice, schemas));
  return html`${prose(schema.description)}${fieldsView(schema, schemas)}${valuesView(schema)}${choices}`;
}
