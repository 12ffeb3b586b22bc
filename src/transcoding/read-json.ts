import { Buffer } from "node:buffer";
import type { DescField, DescMessage, JsonValue, MessageShape, Registry } from "@bufbuild/protobuf";
import { create, createRegistry, fromJson, ScalarType } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { checkMessageJson } from "./check-json.ts";
import { fieldNamedInJson } from "./field-path.ts";
import { JsonReport } from "./json-report.ts";
import { bytesOfBase64 } from "./json-scalars.ts";
import { parseJson, textOfUtf8 } from "./json-text.ts";

/**
 * The maximum depth of nested messages. One level of a google.protobuf.Struct in JSON is two levels
 * in the library.
 */
export const messageDepthMax = 256;

/**
 * Reads a message from JSON by the proto3 JSON mapping (§4.10 item 8): camelCase and snake_case
 * names, enums by name or number, bare or quoted numbers, either form of base64, and null as unset.
 * If a name occurs twice, the last occurrence counts, as in JSON.parse(). Throws ServiceError
 * invalid_argument with the place at which the text is not JSON, or with every violation. Types
 * inside google.protobuf.Any are found in `registry`, which by default contains the types of the
 * schema's own file.
 */
export function readJson<D extends DescMessage>(
  schema: D,
  text: string | Uint8Array,
  registry: Registry = registryOf(schema),
): MessageShape<D> {
  return (
    readSingleBytes(schema, text) ??
    messageOfJson(schema, parseJson(typeof text === "string" ? text : textOfUtf8(text)), registry)
  );
}

function messageOfJson<D extends DescMessage>(
  schema: D,
  json: JsonValue,
  registry: Registry,
): MessageShape<D> {
  const report = new JsonReport(registry);
  const fill = checkMessageJson(schema, json, report);
  refuse(report);
  const message = converted(() =>
    fromJson(schema, json, { registry, recursionLimit: messageDepthMax }),
  );
  fill?.(reflect(schema, message));
  return message;
}

/**
 * Works like readJson(), but ignores unknown fields, as gRPC and Connect do. It replaces the
 * library's JSON reader, which takes five times as long for bytes and splits a mask of any length.
 */
export function readJsonLoosely<D extends DescMessage>(
  schema: D,
  text: Uint8Array,
): MessageShape<D> {
  const json = parseJson(textOfUtf8(text));
  const registry = registryOf(schema);
  const report = new JsonReport(registry, { ignoresUnknown: true });
  const fill = checkMessageJson(schema, json, report);
  refuse(report);
  const options = { registry, recursionLimit: messageDepthMax, ignoreUnknownFields: true };
  const message = converted(() => fromJson(schema, json, options));
  fill?.(reflect(schema, message));
  return message;
}

/** Throws ServiceError invalid_argument if a report has violations. */
export function refuse({ violations }: JsonReport): void {
  const [first] = violations;
  if (first === undefined) return;
  // The whole value is invalid, so there is no field to name.
  if (first.field === "") throw new ServiceError("invalid_argument", first.description);
  throw invalidArgument(violations);
}

/**
 * Runs a conversion by the library on checked JSON. If the library still refuses the JSON, that is
 * an error of the client.
 */
export function converted<T>(convert: () => T): T {
  try {
    return convert();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ServiceError("invalid_argument", message.slice(0, 200), { cause: error });
  }
}

const registries = new WeakMap<DescMessage, Registry>();

function registryOf(schema: DescMessage): Registry {
  let registry = registries.get(schema);
  if (registry === undefined) {
    registry = createRegistry(schema.file, ...schema.file.dependencies);
    registries.set(schema, registry);
  }
  return registry;
}

/**
 * The fast path for a message that has only a bytes field: the field and the beginning of the JSON
 * text.
 */
interface SingleBytes {
  readonly start: Buffer;
  readonly field: DescField & { readonly fieldKind: "scalar" };
}

/**
 * The fast path of the last message of each type, which the next message of a stream is likely to
 * use too.
 */
const lastSingleBytes = new WeakMap<DescMessage, SingleBytes>();

/**
 * Reads messages of live audio, `{"audioContent":"..."}`, without parsing them. Returns undefined
 * unless the text has exactly this form, with the name of a bytes field and base64 without escapes.
 */
export function readSingleBytes<D extends DescMessage>(
  schema: D,
  source: string | Uint8Array,
): MessageShape<D> | undefined {
  if (typeof source === "string" && !source.endsWith('"}')) return undefined;
  const text = typeof source === "string" ? Buffer.from(source) : bufferOf(source);
  const shape = singleBytesOf(schema, text);
  if (shape === undefined) return undefined;
  const { start, field } = shape;
  const end = text.length - 2;
  if (end < start.length || text[end] !== 0x22 || text[end + 1] !== 0x7d) return undefined;
  const bytes = bytesOfBase64(text.toString("latin1", start.length, end));
  if (bytes === undefined) return undefined;
  const message = create(schema);
  // The field is set in the same way as by create() and reflect().set() of the library, which would
  // take longer than the rest.
  if (field.oneof === undefined) Reflect.set(message, field.localName, bytes);
  else Reflect.set(message, field.oneof.localName, { case: field.localName, value: bytes });
  return message;
}

function singleBytesOf(schema: DescMessage, text: Buffer): SingleBytes | undefined {
  const last = lastSingleBytes.get(schema);
  if (last && startsWith(text, last.start)) return last;
  const match = /^\{"([A-Za-z_][A-Za-z0-9_]{0,59})"[ ]?:[ ]?"/.exec(text.toString("latin1", 0, 80));
  if (match === null) return undefined;
  const [start, name = ""] = match;
  const field = fieldNamedInJson(schema, name);
  if (field?.fieldKind !== "scalar" || field.scalar !== ScalarType.BYTES) return undefined;
  const shape = { start: Buffer.from(start, "latin1"), field };
  lastSingleBytes.set(schema, shape);
  return shape;
}

function startsWith(text: Buffer, start: Buffer): boolean {
  if (text.length < start.length) return false;
  for (let at = 0; at < start.length; at += 1) if (text[at] !== start[at]) return false;
  return true;
}

function bufferOf(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
