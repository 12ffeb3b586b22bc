import type { Message } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { createContextKey, type Interceptor } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { rawFieldOf, type RawField } from "../std/raw-field.ts";
import { holdAnswer } from "./held-answers.ts";
import { heldBytesOf, jsonChunks } from "./answer-stored.ts";
import { responseKey } from "./end-calls.ts";

/**
 * The JSON of a field that the adapter splices into a response. The library does not see the field.
 */
export interface SplicedJson {
  /** The field's name in JSON. */
  readonly name: string;
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

export const splicedKey = createContextKey<SplicedJson | undefined>(undefined, {
  description: "JSON of a field of the answer",
});

/**
 * Removes long fields from responses before the library writes the responses on the main thread.
 * Each field is replaced by bytes that another thread has encoded, or by JSON that the adapter
 * splices in. Counts the memory of responses.
 */
export function writeAnswers(answers: HeldBytes): Interceptor {
  return (next) => async (request) => {
    const response = await next(request);
    if (response.stream) return response;
    const { message } = response;
    const nodeResponse = request.contextValues.get(responseKey);
    if (nodeResponse === undefined) return response;
    const { accountId } = callerOf({ values: request.contextValues });
    const hold = (bytes: number) => holdAnswer(answers, accountId, nodeResponse, bytes);
    if (isJson(request.header)) {
      const spliced = await splicedOf(message, hold);
      if (!spliced) return response;
      request.contextValues.set(splicedKey, spliced.json);
      return { ...response, message: spliced.others };
    }
    const raw = rawFieldOf(message);
    if (raw) {
      // Counts the stored field once and its encoded bytes twice: on their own, and in the whole
      // message.
      if ("jsonZstd" in raw.json) hold(raw.json.jsonZstd.length);
      const wire = await raw.wire(request.signal);
      hold(2 * wire.length);
      return { ...response, message: withWire(message, raw.field.localName, wire) };
    }
    const { data } = bodyOf(message);
    if (data) hold(2 * data.length);
    return response;
  };
}

/** Whether the content type is a JSON type of Connect, Connect streaming, gRPC or gRPC-Web. */
export function isJson(header: Headers): boolean {
  return /^application\/(?:[a-z-]+\+)?json\b/i.test(header.get("content-type") ?? "");
}

async function splicedOf(
  message: Message,
  hold: (bytes: number) => unknown,
): Promise<{ readonly json: SplicedJson; readonly others: Message } | undefined> {
  const raw = rawFieldOf(message);
  if (raw) {
    const { jsonName: name, localName } = raw.field;
    const json = await splicedJsonOf(raw.json, hold);
    return { json: { name, ...json }, others: without(message, localName) };
  }
  const { data } = bodyOf(message);
  if (data === undefined) return undefined;
  hold(data.length);
  const bytes = 2 + 4 * Math.ceil(data.length / 3);
  const json = { name: "data", bytes, pieces: () => base64Pieces(data) };
  return { json, others: without(message, "data", new Uint8Array()) };
}

async function splicedJsonOf(
  json: RawField["json"],
  hold: (bytes: number) => unknown,
): Promise<Omit<SplicedJson, "name">> {
  if ("jsonZstd" in json) {
    hold(heldBytesOf(json));
    return { bytes: json.jsonBytes, pieces: () => jsonChunks(json) };
  }
  const bytes = Buffer.from(await json.write());
  hold(bytes.length);
  return { bytes: bytes.length, pieces: () => [bytes] };
}

/** The bytes of a google.api.HttpBody. */
function bodyOf(message: Message): { readonly data?: Uint8Array } {
  const isBody = message.$typeName === "google.api.HttpBody";
  return isBody && "data" in message && message.data instanceof Uint8Array
    ? { data: message.data }
    : {};
}

/** The size of the chunks for base64, chosen so that there is no padding between them. */
const pieceBytes = 192 << 10;

function* base64Pieces({ buffer, byteOffset, length }: Uint8Array): Generator<Uint8Array> {
  yield Buffer.from('"');
  for (let at = 0; at < length; at += pieceBytes) {
    const piece = Buffer.from(buffer, byteOffset + at, Math.min(pieceBytes, length - at));
    yield Buffer.from(piece.toString("base64"));
  }
  yield Buffer.from('"');
}

function without(message: Message, name: string, empty: unknown = []): Message {
  return Object.create(Object.getPrototypeOf(message), {
    ...Object.getOwnPropertyDescriptors(message),
    [name]: { value: empty, enumerable: true },
  });
}

/**
 * Returns a message with the field as bytes, which the library writes in the same way as unknown
 * fields.
 */
function withWire(message: Message, name: string, wire: Uint8Array): Message {
  const others = without(message, name);
  if (wire.length === 0) return others;
  const reader = new BinaryReader(wire);
  const [no] = reader.tag();
  const data = wire.subarray(reader.pos);
  others.$unknown = [{ no, wireType: WireType.LengthDelimited, data }];
  return others;
}
