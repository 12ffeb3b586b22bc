import type {
  DescField,
  DescMessage,
  DescMethod,
  JsonObject,
  JsonValue,
  Message,
  Registry,
} from "@bufbuild/protobuf";
import { create, getOption, mergeFromJson, ScalarType } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { ignore_unknown_fields } from "../gen/hlust/api/annotations_pb.ts";
import { ServiceError } from "../std/service-error.ts";
import { checkFieldJson, checkMessageJson, type FillBytes } from "./check-json.ts";
import { resolveFieldPath } from "./field-path.ts";
import type { Binding } from "./http-rules.ts";
import { isObject } from "./is-object.ts";
import { JsonReport } from "./json-report.ts";
import { jsonDepthMax, parseJson, textOfUtf8 } from "./json-text.ts";
import { fieldPathsIn } from "./patch-mask.ts";
import { decodeFully, utf8OfRawBytes } from "./percent-encoding.ts";
import { converted, messageDepthMax, refuse } from "./read-json.ts";

/** The parts of a request that rules bind: decoded path variables, the raw query and the body. */
export interface RequestParts {
  readonly captures: readonly string[];
  /** The part after the "?", still encoded. */
  readonly query: string;
  /** The body; empty or undefined if there is none. */
  readonly body: Uint8Array | undefined;
  /** The Content-Type of the body, as sent. It is kept if the body is a google.api.HttpBody. */
  readonly contentType: string;
}

export interface BindOptions {
  readonly registry: Registry;
  /** The query parameters that belong to no field. Names that begin with "$" are skipped too. */
  readonly systemParameters: ReadonlySet<string>;
  readonly unknownQuery: "reject" | "ignore";
  readonly strayBody: "reject" | "ignore";
}

/**
 * Creates the request message (§4.10 items 1 to 4, 7 and 8) from the body, then the query, then the
 * path, so that the path takes precedence. For a PATCH, update_mask is filled from the names in the
 * body unless it is in the query. Throws ServiceError invalid_argument with every violation in the
 * query, path and body. Violations name fields by their path from the request message or, in a body
 * that is one message field, by their path in the body.
 */
export function bindRequest(binding: Binding, parts: RequestParts, options: BindOptions): Message {
  const { input } = binding.method;
  const ignoreUnknownFields = ignoresUnknown(binding.method);
  const report = new JsonReport(options.registry, { ignoresUnknown: ignoreUnknownFields });
  const params = paramsJson(binding, parts, options, report);
  const fillParams = checkMessageJson(input, params, report);
  const body = readBody(binding, parts, options, report);
  refuse(report);
  const message = create(input);
  const target = reflect(input, message);
  const { registry } = options;
  const library = { registry, recursionLimit: messageDepthMax, ignoreUnknownFields };
  if (body.json !== undefined) {
    const { json } = body;
    converted(() => mergeFromJson(input, message, json, library));
  }
  body.fill?.(target);
  if (Object.keys(params).length > 0) {
    converted(() => mergeFromJson(input, message, params, library));
    fillParams?.(target);
  }
  const { updateMask } = binding;
  if (updateMask !== undefined && !Object.hasOwn(params, updateMask.jsonName)) {
    const mask = create(FieldMaskSchema, { paths: [...(body.paths ?? [])] });
    target.set(updateMask, reflect(FieldMaskSchema, mask));
  }
  return message;
}

/** The option is cached because getOption() decodes it at each call. */
const knownToIgnore = new WeakMap<DescMethod, boolean>();

/** Whether unknown fields of the method's JSON bodies are ignored. */
function ignoresUnknown(method: DescMethod): boolean {
  const known = knownToIgnore.get(method);
  if (known !== undefined) return known;
  const found = getOption(method, ignore_unknown_fields);
  knownToIgnore.set(method, found);
  return found;
}

/**
 * Whether the body of a request is a google.api.HttpBody, which accepts bytes of any media type.
 */
export function takesHttpBody(binding: Binding): boolean {
  return bodyTypeOf(binding)?.typeName === "google.api.HttpBody";
}

interface Body {
  /** The JSON of the request message, with the fields of the body. */
  readonly json?: JsonValue;
  readonly fill?: FillBytes | undefined;
  /** The fields that the body names, for the update mask. */
  readonly paths?: readonly string[];
}

function readBody(
  binding: Binding,
  parts: RequestParts,
  options: BindOptions,
  report: JsonReport,
): Body {
  const { method, body, template, httpMethod, updateMask } = binding;
  if (takesHttpBody(binding)) {
    return { fill: (message) => fillHttpBody(message, body, parts) };
  }
  if (parts.body === undefined || parts.body.length === 0) return {};
  if (body === "") {
    if (options.strayBody === "ignore") return {};
    throw new ServiceError("invalid_argument", `${httpMethod} ${template} does not accept a body`);
  }
  const type = body === "*" ? undefined : bodyMessage(body);
  const json = parseJson(textOfUtf8(parts.body));
  const from = report.violations.length;
  if (body === "*") {
    const fill = checkMessageJson(method.input, json, report);
    refuseWhole(report, from);
    return { json, fill };
  }
  const holder: JsonObject = { [body.jsonName]: json };
  if (type === undefined || json === null)
    return { json: holder, fill: checkFieldJson(body, holder, report) };
  const paths = updateMask === undefined ? [] : fieldPathsIn(type, json);
  const fill = checkMessageJson(type, json, report);
  refuseWhole(report, from);
  return {
    json: holder,
    fill: fill && ((message) => fill(messageIn(message, body))),
    paths,
  };
}

/** The message type of a JSON body; undefined if the body is not a message. */
export function bodyTypeOf({ method, body }: Binding): DescMessage | undefined {
  return body === "*" ? method.input : bodyMessage(body);
}

/** The message type of a body field; undefined if the field is not a message. */
function bodyMessage(body: "" | DescField): DescMessage | undefined {
  return body !== "" && body.fieldKind === "message" ? body.message : undefined;
}

/** Throws for a body of the wrong kind, which has no field to name. */
function refuseWhole(report: JsonReport, from: number): void {
  const first = report.violations[from];
  if (first?.field === "") throw new ServiceError("invalid_argument", `body: ${first.description}`);
}

function messageIn(message: ReflectMessage, field: DescField): ReflectMessage {
  if (field.fieldKind !== "message") throw new TypeError(`${field.name} is not a message`);
  return message.get(field);
}

function fillHttpBody(message: ReflectMessage, body: Binding["body"], parts: RequestParts): void {
  const data = parts.body ?? new Uint8Array();
  if (data.length === 0 && parts.contentType === "") return;
  const target = typeof body === "string" ? message : messageIn(message, body);
  for (const field of target.fields) {
    if (field.name === "content_type") target.set(field, parts.contentType);
    if (field.name === "data") target.set(field, data);
  }
  if (typeof body !== "string") message.set(body, target);
}

/**
 * Returns path variables and query parameters as JSON of the request message. Adds problems to
 * `report`.
 */
function paramsJson(
  binding: Binding,
  { captures, query }: RequestParts,
  options: BindOptions,
  report: JsonReport,
): JsonObject {
  const params = emptyObject();
  for (const [index, fields] of binding.variables.entries()) {
    place(params, fields, captures[index] ?? "");
  }
  if (query === "") return params;
  const text = utf8OfRawBytes(query);
  if (text === undefined) {
    throw new ServiceError("invalid_argument", "the query is not UTF-8");
  }
  const fromPath = new Set(binding.variables.map(pathOf));
  for (const [rawName, rawValue] of pairsOf(text)) {
    if (report.isFull) break;
    const name = decodeParam(rawName);
    const value = decodeParam(rawValue);
    if (name === undefined || value === undefined) {
      report.add("malformed percent-encoding in the query", rawName);
      continue;
    }
    if (options.systemParameters.has(name) || name.startsWith("$")) continue;
    const found = queryFields(binding, fromPath, name);
    if (typeof found !== "string") {
      if (!place(params, found, value)) report.add("given more than once", name);
    } else if (options.unknownQuery === "reject") {
      report.add(found, name === "" ? '""' : name);
    }
  }
  return params;
}

function* pairsOf(query: string): Generator<[name: string, value: string]> {
  for (let start = 0; start <= query.length;) {
    const next = query.indexOf("&", start);
    const end = next === -1 ? query.length : next;
    const pair = query.slice(start, end);
    start = end + 1;
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    yield equals === -1 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)];
  }
}

function decodeParam(text: string): string | undefined {
  try {
    return decodeFully(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/**
 * Returns the fields on the path that a query parameter names, or the reason why the parameter
 * names no field.
 */
function queryFields(
  { method, body }: Binding,
  fromPath: ReadonlySet<string>,
  name: string,
): readonly DescField[] | string {
  if (body === "*") return "there are no query parameters here: all fields go in the body";
  const path = name.split(".", jsonDepthMax + 1);
  if (path.length > jsonDepthMax) return "unknown query parameter";
  const fields = resolveFieldPath(method.input, path, { names: "json", lists: true });
  if ("problem" in fields) return `not a query parameter: ${fields.problem}`;
  if (fields[0] === body) return "not a query parameter: it goes in the body";
  if (fromPath.has(pathOf(fields))) return "not a query parameter: it is set by the path";
  return fields;
}

function pathOf(fields: readonly DescField[]): string {
  return fields.map((field) => field.name).join(".");
}

/**
 * Returns an object without a prototype, since a field can be named "constructor" or "__proto__".
 */
function emptyObject(): JsonObject {
  return { __proto__: null };
}

/** Sets a field from text. Returns false if a singular field already has a value. */
function place(params: JsonObject, fields: readonly DescField[], text: string): boolean {
  let holder = params;
  for (const field of fields.slice(0, -1)) {
    const next = holder[field.jsonName] ?? emptyObject();
    if (!isObject(next)) return false;
    holder = holder[field.jsonName] = next;
  }
  const field = fields.at(-1);
  if (field === undefined) return false;
  const before = holder[field.jsonName];
  const value = paramJson(field, text);
  if (field.fieldKind === "list") {
    if (Array.isArray(before)) before.push(value);
    else holder[field.jsonName] = [value];
    return true;
  }
  if (before !== undefined) return false;
  holder[field.jsonName] = value;
  return true;
}

/**
 * Returns a parameter as JSON. proto3 JSON accepts strings for all types except booleans and the
 * numbers of enum values.
 */
function paramJson(field: DescField, text: string): JsonValue {
  if (field.enum !== undefined) return /^-?[0-9]{1,11}$/.test(text) ? Number(text) : text;
  const isBool =
    field.scalar === ScalarType.BOOL || field.message?.typeName === "google.protobuf.BoolValue";
  if (isBool && (text === "true" || text === "false")) return text === "true";
  // The paths of a mask can be written with proto names, like parameter names.
  return field.message?.typeName === FieldMaskSchema.typeName
    ? text.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    : text;
}
