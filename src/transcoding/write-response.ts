import type {
  DescField,
  DescMessage,
  JsonObject,
  JsonValue,
  Message,
  Registry,
} from "@bufbuild/protobuf";
import { create, getOption, toJson, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { emit_empty, emit_null, emit_unset_fields } from "../gen/hlust/api/annotations_pb.ts";
import type { Binding } from "./http-rules.ts";
import { isObject, ownField } from "./is-object.ts";

/**
 * Writes a message as the JSON of a response (docs/api.md, JSON). Unset fields are omitted unless
 * the message has the option hlust.api.emit_unset_fields. With that option, unset fields are
 * written at every depth, and message fields with hlust.api.emit_null are written as null. Fields
 * of this message with hlust.api.emit_empty are always written. `registry` contains the types
 * inside a google.protobuf.Any.
 */
export function writeJson(schema: DescMessage, message: Message, registry?: Registry): string {
  return JSON.stringify(answerJson(schema, message, registry));
}

/**
 * Writes the text of a response by its rule: the whole message, or its response_body field (§4.10
 * item 4).
 */
export function writeResponse(binding: Binding, message: Message, registry?: Registry): string {
  const { output } = binding.method;
  const field = binding.responseBody;
  if (field === undefined) return writeJson(output, message, registry);
  const source = reflect(output, message);
  if (field.fieldKind === "message") {
    if (!source.isSet(field)) return "null";
    return writeJson(field.message, source.get(field).message, registry);
  }
  const json = jsonOf(output, message, false, registry);
  const value = isObject(json) ? ownField(json, field.jsonName) : undefined;
  return JSON.stringify(value ?? emptyJson(output, field));
}

/** The text of a response before and after the value of one field. */
export interface AroundField {
  readonly head: string;
  readonly tail: string;
}

/**
 * Works like writeResponse(), except for a list whose JSON already exists, which is not read.
 * Returns undefined if the response is only a part of the message.
 */
export function writeAround(
  { method: { output }, responseBody }: Binding,
  message: Message,
  name: string,
  registry?: Registry,
): AroundField | undefined {
  const field = output.fields.find(({ localName }) => localName === name);
  if (responseBody !== undefined || field?.fieldKind !== "list") return undefined;
  const others: Message = Object.create(Object.getPrototypeOf(message), {
    ...Object.getOwnPropertyDescriptors(message),
    [name]: { value: [], enumerable: true },
  });
  const json = answerJson(output, others, registry);
  if (!isObject(json)) return undefined;
  const members = Object.entries(json).map(([key, value]) => [key, JSON.stringify(value)] as const);
  const place = members.findIndex(([key]) => key === field.jsonName);
  const textOf = (from: number, to: number): string =>
    members
      .slice(from, to)
      .map(([key, text]) => `${JSON.stringify(key)}:${text}`)
      .join(",");
  const before = textOf(0, place === -1 ? members.length : place);
  const after = place === -1 ? "" : textOf(place + 1, members.length);
  return {
    head: `{${before}${before && ","}${JSON.stringify(field.jsonName)}:`,
    tail: `${after && ","}${after}}`,
  };
}

/** Bytes that are sent unchanged as a response. */
export interface HttpContent {
  readonly contentType: string;
  readonly data: Uint8Array;
}

/** Whether the responses of a rule, or their response_body fields, are a google.api.HttpBody. */
export function answersHttpBody({ method, responseBody }: Binding): boolean {
  const type = responseBody === undefined ? method.output : responseBody.message;
  const isOne = responseBody === undefined || responseBody.fieldKind === "message";
  return isOne && type?.typeName === "google.api.HttpBody";
}

/**
 * Returns the content of a response that is a google.api.HttpBody, to be sent unchanged; undefined
 * for all other responses.
 */
export function httpBodyOf(binding: Binding, message: Message): HttpContent | undefined {
  if (!answersHttpBody(binding)) return undefined;
  const { output } = binding.method;
  const field = binding.responseBody;
  const root = reflect(output, message);
  const body = field?.fieldKind === "message" ? root.get(field) : root;
  let contentType = "";
  let data: Uint8Array = new Uint8Array();
  for (const field of body.fields) {
    const value: unknown = body.get(field);
    if (field.name === "content_type" && typeof value === "string") contentType = value;
    if (field.name === "data" && value instanceof Uint8Array) data = value;
  }
  return { contentType: contentType || "application/octet-stream", data };
}

function answerJson(schema: DescMessage, message: Message, registry?: Registry): JsonValue {
  const { emitsUnset, emptyFields } = answerRules(schema);
  const json = jsonOf(schema, message, emitsUnset, registry);
  if (!isObject(json)) return json;
  if (emitsUnset) writeNulls(schema, json);
  for (const field of emptyFields) json[field.jsonName] ??= emptyJson(schema, field);
  return json;
}

function jsonOf(
  schema: DescMessage,
  message: Message,
  alwaysEmitImplicit: boolean,
  registry: Registry | undefined,
): JsonValue {
  const bytes = schema.fields.flatMap(({ localName, jsonName, fieldKind, scalar, oneof }) => {
    if (fieldKind !== "scalar" || scalar !== ScalarType.BYTES || oneof) return [];
    const value: unknown = Object.getOwnPropertyDescriptor(message, localName)?.value;
    return value instanceof Uint8Array && value.length > 0 ? [{ localName, jsonName, value }] : [];
  });
  const options = { alwaysEmitImplicit, ...(registry && { registry }) };
  if (bytes.length === 0) return toJson(schema, message, options);
  // toJson() takes a second for the base64 of 8 MiB, and a Buffer milliseconds.
  const others: Message = Object.create(
    Object.getPrototypeOf(message),
    Object.getOwnPropertyDescriptors(message),
  );
  for (const { localName } of bytes) {
    Object.defineProperty(others, localName, { value: new Uint8Array(), enumerable: true });
  }
  const json = toJson(schema, others, options);
  if (!isObject(json)) return toJson(schema, message, options);
  for (const { jsonName, value } of bytes) json[jsonName] = Buffer.from(value).toString("base64");
  return json;
}

/**
 * Returns the JSON of an unset field that is not a message: [], {}, "", 0, false or the first enum
 * name.
 */
function emptyJson(message: DescMessage, field: DescField): JsonValue {
  if (field.fieldKind === "list") return [];
  if (field.fieldKind === "map") return {};
  const json = toJson(message, create(message), { alwaysEmitImplicit: true });
  return (isObject(json) ? ownField(json, field.jsonName) : undefined) ?? null;
}

interface AnswerRules {
  readonly emitsUnset: boolean;
  readonly emptyFields: readonly DescField[];
  /** The fields to visit: fields that are null if unset, and fields that contain such fields. */
  readonly nullFields: readonly { readonly field: DescField; readonly isNull: boolean }[];
}

const knownRules = new WeakMap<DescMessage, AnswerRules>();

function answerRules(message: DescMessage): AnswerRules {
  let rules = knownRules.get(message);
  if (rules === undefined) {
    rules = {
      emitsUnset: getOption(message, emit_unset_fields),
      emptyFields: message.fields.filter((field) => getOption(field, emit_empty)),
      nullFields: message.fields
        .filter((field) => leadsToNull(field, new Set()))
        .map((field) => ({ field, isNull: isNullWhenUnset(field) })),
    };
    knownRules.set(message, rules);
  }
  return rules;
}

function isNullWhenUnset(field: DescField): boolean {
  return field.fieldKind === "message" && getOption(field, emit_null);
}

function leadsToNull(field: DescField, seen: Set<DescMessage>): boolean {
  if (isNullWhenUnset(field)) return true;
  if (field.message === undefined || seen.has(field.message)) return false;
  seen.add(field.message);
  return field.message.fields.some((below) => leadsToNull(below, seen));
}

function writeNulls(message: DescMessage, json: JsonObject): void {
  for (const { field, isNull } of answerRules(message).nullFields) {
    const value = ownField(json, field.jsonName);
    if (value === undefined) {
      if (isNull) json[field.jsonName] = null;
    } else if (field.message !== undefined) {
      for (const one of messagesIn(field, value)) if (isObject(one)) writeNulls(field.message, one);
    }
  }
}

function messagesIn(field: DescField, value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value;
  return field.fieldKind === "map" && isObject(value) ? Object.values(value) : [value];
}
