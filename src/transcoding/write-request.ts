import type {
  DescField,
  DescMessage,
  JsonObject,
  JsonValue,
  Message,
  Registry,
} from "@bufbuild/protobuf";
import { toJson } from "@bufbuild/protobuf";
import { isReflectMessage, reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { type FieldViolation, invalidArgument, ServiceError, shown } from "../std/service-error.ts";
import type { Binding } from "./http-rules.ts";
import { isObject, ownField } from "./is-object.ts";
import { leafText } from "./leaf-text.ts";
import { type PathValue, writePath } from "./write-path.ts";
import { type ReportField, writeQuery } from "./write-query.ts";

/**
 * A request message in HTTP form, from which Transcoder.route() and bind() create the same message
 * again.
 */
export interface WrittenRequest {
  readonly binding: Binding;
  /**
   * The HTTP method: GET, POST, ..., or the kind of a custom pattern. If the rule accepts any
   * method, it is POST with a body and GET without one.
   */
  readonly httpMethod: string;
  /** The path and the query. */
  readonly target: string;
  readonly body: WrittenBody | undefined;
}

export interface WrittenBody {
  /** The media type; "" for a google.api.HttpBody without a media type. */
  readonly contentType: string;
  /** JSON text, or the bytes of a google.api.HttpBody. */
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/**
 * Writes a request message with the first of a method's bindings that can express the whole message
 * (§4.10 items 1 to 4, 6 and 8). `registry` contains the types inside a google.protobuf.Any (see
 * registryOf()). Throws ServiceError: unimplemented if there is no binding, or invalid_argument
 * (NOT_EXPRESSIBLE) with every field that a binding cannot express.
 */
export function writeRequest(
  bindings: readonly Binding[],
  message: Message,
  registry: Registry,
): WrittenRequest {
  const refusals: { binding: Binding; violations: readonly FieldViolation[] }[] = [];
  for (const binding of bindings) {
    const violations: FieldViolation[] = [];
    const request = writeBy(binding, message, registry, (field, description) => {
      const isKnown = violations.some(
        (one) => one.field === field && one.description === description,
      );
      if (!isKnown) violations.push({ field, description });
    });
    if (violations.length === 0) return request;
    refusals.push({ binding, violations });
  }
  if (refusals.length === 0) {
    throw new ServiceError("unimplemented", "the method has no HTTP rule", { reason: "NO_RULE" });
  }
  const all = refusals.flatMap(({ binding, violations }) => {
    const place = refusals.length === 1 ? "" : `${binding.httpMethod} ${binding.template}: `;
    return violations.map(({ field, description }) => {
      return { field, description: `${place}${description}` };
    });
  });
  const { message: text } = invalidArgument(all);
  throw new ServiceError("invalid_argument", text, { reason: "NOT_EXPRESSIBLE", violations: all });
}

function writeBy(
  binding: Binding,
  message: Message,
  registry: Registry,
  report: ReportField,
): WrittenRequest {
  const { method, body, variables } = binding;
  const root = reflect(method.input, message);
  const values = variables.map((fields) => valueOf(root, fields));
  const path = writePath(binding.path, values, (index, problem) => {
    report(jsonPath(variables[index] ?? []) || binding.template, problem);
  });
  const inPath = new Set(variables.map(protoPath));
  const isElsewhere = (path: string): boolean =>
    inPath.has(path) || (typeof body === "object" && body.name === path);
  const query = body === "*" ? "" : writeQuery(root, isElsewhere, report);
  const written = writeBody(binding, root, registry, report);
  const anyMethod = body === "" ? "GET" : "POST";
  return {
    binding,
    httpMethod: binding.httpMethod === "*" ? anyMethod : binding.httpMethod,
    target: query === "" ? path : `${path}?${query}`,
    body: written,
  };
}

/**
 * Returns the value of a path variable. A field with tracked presence must be set, since the path
 * would set it.
 */
function valueOf(root: ReflectMessage, fields: readonly DescField[]): PathValue {
  let holder = root;
  for (const field of fields) {
    const hasPresence = field.presence !== FeatureSet_FieldPresence.IMPLICIT;
    if (hasPresence && !holder.isSet(field))
      return { problem: "it is not set, and the path needs it" };
    const value: unknown = holder.get(field);
    if (field !== fields.at(-1) && isReflectMessage(value)) {
      holder = value;
      continue;
    }
    try {
      return leafText(field, value);
    } catch (error) {
      return { problem: messageOf(error) };
    }
  }
  return { problem: "it names no field" };
}

function writeBody(
  { body, variables }: Binding,
  root: ReflectMessage,
  registry: Registry,
  report: ReportField,
): WrittenBody | undefined {
  if (body === "") return undefined;
  if (body === "*" && isHttpBody(root.desc)) return httpBodyOf(root, "", report);
  if (typeof body === "object") {
    if (!root.isSet(body)) return undefined;
    if (body.fieldKind === "message" && isHttpBody(body.message)) {
      return httpBodyOf(root.get(body), body.jsonName, report);
    }
  }
  const json = jsonOf(root, registry, report);
  for (const fields of variables) drop(json, fields);
  const value = typeof body === "object" ? ownField(json, body.jsonName) : json;
  // The body is one field, and that field is in the path.
  if (value === undefined) return undefined;
  const name = typeof body === "object" ? body.jsonName : "";
  return { contentType: "application/json", content: textOf(value, name, report) };
}

function isHttpBody(type: DescMessage): boolean {
  return type.typeName === "google.api.HttpBody";
}

/** The pattern of a valid header value. Other text would be changed in transit. */
const headerValue = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;

function httpBodyOf(message: ReflectMessage, name: string, report: ReportField): WrittenBody {
  let contentType = "";
  let content = new Uint8Array();
  const refuse = (field: DescField, problem: string): void => {
    report(name === "" ? field.jsonName : `${name}.${field.jsonName}`, problem);
  };
  for (const field of message.fields) {
    const value: unknown = message.get(field);
    if (field.name === "content_type" && typeof value === "string") {
      contentType = value;
      if (!headerValue.test(value)) refuse(field, "it cannot be a header value");
    } else if (field.name === "data" && value instanceof Uint8Array) {
      content = new Uint8Array(value);
    } else if (message.isSet(field)) {
      refuse(field, "it cannot be sent with a body that is not JSON");
    }
  }
  if (name !== "" && contentType === "" && content.length === 0) {
    report(name, "it is set and empty, which a request cannot express");
  }
  return { contentType, content };
}

/**
 * Returns the JSON of the whole message. If a part of the message has no JSON, the function reports
 * that and returns {}.
 */
function jsonOf(root: ReflectMessage, registry: Registry, report: ReportField): JsonObject {
  try {
    const json = toJson(root.desc, root.message, { registry });
    if (isObject(json)) return json;
    throw new TypeError(`${root.desc.typeName} is not an object in JSON`);
  } catch (error) {
    blame(root, "", registry, error, report);
    return {};
  }
}

/** Finds the innermost message that the library cannot write and reports it. */
function blame(
  message: ReflectMessage,
  name: string,
  registry: Registry,
  error: unknown,
  report: ReportField,
): void {
  for (const [part, child] of childrenOf(message)) {
    try {
      toJson(child.desc, child.message, { registry });
    } catch (error) {
      const joint = name === "" || part.startsWith("[") ? "" : ".";
      blame(child, `${name}${joint}${part}`, registry, error, report);
      return;
    }
  }
  report(name, messageOf(error));
}

function* childrenOf(message: ReflectMessage): Generator<[part: string, child: ReflectMessage]> {
  // The JSON of these messages does not consist of their fields.
  if (message.desc.typeName.startsWith("google.protobuf.")) return;
  for (const field of message.sortedFields) {
    if (!message.isSet(field)) continue;
    if (field.fieldKind === "message") yield [field.jsonName, message.get(field)];
    else if (field.fieldKind === "list" || field.fieldKind === "map") {
      for (const [key, item] of message.get(field).entries()) {
        if (isReflectMessage(item)) yield [`${field.jsonName}[${shown(key)}]`, item];
      }
    }
  }
}

/** Removes a field from the body that is already in the path (§4.10 item 2). */
function drop(json: JsonObject, fields: readonly DescField[]): void {
  let holder = json;
  for (const field of fields.slice(0, -1)) {
    const next = ownField(holder, field.jsonName);
    if (next === undefined || !isObject(next)) return;
    holder = next;
  }
  const last = fields.at(-1);
  if (last !== undefined) delete holder[last.jsonName];
}

/**
 * Writes JSON text like JSON.stringify(), but keeps the sign of -0 and reports strings that are not
 * valid Unicode.
 */
function textOf(value: JsonValue, name: string, report: ReportField): string {
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "string" && !value.isWellFormed()) {
    report(name, "it has an unpaired surrogate, which UTF-8 cannot express");
  }
  if (Array.isArray(value)) {
    const items = value.map((item, index) => textOf(item, `${name}[${index}]`, report));
    return `[${items.join(",")}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => {
    if (!key.isWellFormed())
      report(name, "a key has an unpaired surrogate, which UTF-8 cannot express");
    return `${JSON.stringify(key)}:${textOf(member, name === "" ? key : `${name}.${key}`, report)}`;
  });
  return `{${members.join(",")}}`;
}

function jsonPath(fields: readonly DescField[]): string {
  return fields.map((field) => field.jsonName).join(".");
}

function protoPath(fields: readonly DescField[]): string {
  return fields.map((field) => field.name).join(".");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
