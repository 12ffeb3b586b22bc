import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { HeldShare } from "../std/held-bytes.ts";
import { readJsonLoosely } from "../transcoding/read-json.ts";
import { ByteCollector, tooLarge } from "./byte-collector.ts";
import { decompress, isContentCoding } from "./decompress.ts";
import type { HttpRequest } from "./http.ts";
import { admitMessage, type MessageReading } from "./message-reading.ts";

/** The body format of a gRPC, gRPC-Web or Connect request. */
export interface RpcFormat {
  /** The body is one message, or messages that each follow a five-byte prefix. */
  readonly framing: "whole" | "envelopes";
  readonly format: "json" | "binary";
  /** The name of the compression, as given in the request. */
  readonly coding: string | undefined;
}

/**
 * Reads the format of the body from the headers. Returns undefined if the request belongs to none
 * of the three protocols.
 */
export function rpcFormatOf({ headers }: HttpRequest): RpcFormat | undefined {
  const match =
    /^application\/(?:(connect\+|grpc(?:-web(?:-text)?)?\+?)?)(json|proto)?(?:;|$)/i.exec(
      headers["content-type"] ?? "",
    );
  if (match === null) return undefined;
  const [, protocol = "", codec = "proto"] = match;
  const format = codec.toLowerCase() === "json" ? "json" : "binary";
  const framing = protocol === "" ? "whole" : "envelopes";
  const header = codingHeaderOf(protocol.toLowerCase());
  const coding = headers[header];
  return { framing, format, coding: Array.isArray(coding) ? coding[0] : coding };
}

function codingHeaderOf(protocol: string): string {
  if (protocol === "") return "content-encoding";
  return protocol.startsWith("connect") ? "connect-content-encoding" : "grpc-encoding";
}

/** Adds the parts that were read outside the adapter to the message that the adapter read. */
export type Finish = (message: Message) => Message;

export interface RpcBodyParts {
  readonly method: DescMethod;
  readonly rpc: RpcFormat;
  readonly bytesMax: number;
  readonly accountId: string;
  /**
   * The memory share of the call. It counts the memory of a request with one message until the
   * response has been sent.
   */
  readonly share: HeldShare;
  readonly signal: AbortSignal;
  readonly reading: MessageReading;
  /** Called once for each message, before it is passed on. */
  readonly onMessage: (finish: Finish) => void;
}

/**
 * Reads the body of a request before the adapter does. Yields decompressed messages within their
 * limits, each in its turn. Throws ServiceError.
 */
export async function* rpcBody(
  chunks: AsyncIterable<Uint8Array>,
  parts: RpcBodyParts,
): AsyncGenerator<Uint8Array, void> {
  if (parts.rpc.framing === "envelopes") {
    yield* envelopes(chunks, parts);
    return;
  }
  const collector = new ByteCollector(parts.bytesMax, parts.share);
  for await (const chunk of chunks) collector.add(chunk);
  yield await messageFor(collector.take(), parts.rpc.coding, parts.share, parts);
}

/** Whether a method accepts exactly one message. */
export function takesOneMessage({ methodKind }: DescMethod): boolean {
  return methodKind === "unary" || methodKind === "server_streaming";
}

const headBytes = 5;
/** The envelope flag for a compressed message. */
const compressedFlag = 1;

async function* envelopes(
  chunks: AsyncIterable<Uint8Array>,
  parts: RpcBodyParts,
): AsyncGenerator<Uint8Array, void> {
  const { bytesMax, accountId, reading } = parts;
  await using source = new PartReader(chunks);
  for (;;) {
    // A stream may be long, so messages that have been read are no longer counted.
    using ofMessage = takesOneMessage(parts.method) ? undefined : reading.held.hold(accountId);
    const share = ofMessage ?? parts.share;
    const head = Buffer.from(await source.collect(headBytes, share));
    const length = head.length < headBytes ? 0 : head.readUInt32BE(1);
    if (length > bytesMax) throw tooLarge(bytesMax);
    const message = await source.collect(length, share);
    if (head.length < headBytes || message.length < length) {
      // The adapter refuses an incomplete envelope.
      if (head.length > 0) yield Buffer.concat([head, message]);
      return;
    }
    const [flags = 0] = head;
    const isCompressed = (flags & compressedFlag) !== 0 && isContentCoding(parts.rpc.coding);
    const coding = isCompressed ? parts.rpc.coding : undefined;
    const ready = await messageFor(message, coding, share, parts);
    head[0] = isCompressed ? flags & ~compressedFlag : flags;
    head.writeUInt32BE(ready.length, 1);
    yield Buffer.concat([head, ready]);
  }
}

/**
 * The minimum size of the JSON that is read here. The library takes five times as long to read the
 * audio in longer JSON.
 */
const readHereBytesMin = 64 << 10;
const emptyJson = Buffer.from("{}");

async function messageFor(
  came: Uint8Array,
  coding: string | undefined,
  share: HeldShare,
  { method, rpc, bytesMax, accountId, signal, reading, onMessage }: RpcBodyParts,
): Promise<Uint8Array> {
  const { input } = method;
  const owner = { accountId, share, signal };
  const whole = isContentCoding(coding)
    ? await decompress(came, { coding, bytesMax }, owner, reading)
    : came;
  const { format } = rpc;
  const message = { bytes: whole, type: input, input, format, isStrict: false };
  const { bytes, finish } = await admitMessage(message, owner, reading);
  if (!takesOneMessage(method)) return bytes;
  const isReadHere = format === "json" && bytes.length >= readHereBytesMin;
  const read = isReadHere ? readJsonLoosely(input, bytes) : undefined;
  onMessage((parsed) => {
    const made = read ?? parsed;
    finish?.(made);
    return made;
  });
  return read ? emptyJson : bytes;
}

/** Reads bytes from chunks on demand. */
class PartReader implements AsyncDisposable {
  readonly #parts: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(parts: AsyncIterable<Uint8Array>) {
    this.#parts = parts[Symbol.asyncIterator]();
  }

  /**
   * Returns the next `length` bytes, or fewer at the end. The share counts the bytes as they
   * arrive.
   */
  async collect(length: number, share: HeldShare): Promise<Uint8Array> {
    const collector = new ByteCollector(length, share);
    while (collector.length < length) {
      if (this.#rest.length === 0) {
        const { done, value } = await this.#parts.next();
        if (done) break;
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, length - collector.length);
      this.#rest = this.#rest.subarray(part.length);
      collector.add(part);
    }
    return collector.take();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.return?.();
  }
}
