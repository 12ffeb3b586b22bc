import type { DescMessage, Message } from "@bufbuild/protobuf";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { HeldBytes, type HeldBytesLimits, type HeldShare } from "../std/held-bytes.ts";
import type { LongMessages } from "../std/long-messages.ts";
import { countFields } from "../transcoding/count-fields.ts";
import { countValues, tooManyValues, valuesMax } from "../transcoding/count-values.ts";
import { lazyPathOf, type LazyPath } from "../transcoding/lazy-path.ts";
import { ReadingTurns } from "./reading-turns.ts";

/**
 * What request bodies of a node may take of its memory: as they came, decompressed, and as
 * messages.
 */
export const requestBytes: HeldBytesLimits = {
  nodeBytesMax: 256 << 20,
  accountBytesMax: 64 << 20,
  reason: "BODIES_FULL",
  what: "request bodies",
};

/** What reading requests takes of a node, shared by all its doors. */
export interface MessageReading {
  /** Bytes of requests, by account; "" is everybody who shows no token. */
  readonly held: HeldBytes;
  /** Of the thread that carries live audio. */
  readonly turns: ReadingTurns;
  /** Of the threads that decompress. */
  readonly decompressing: FairSemaphore;
  /** undefined: there is no method whose messages may be long. */
  readonly longMessages: LongMessages | undefined;
}

/** `limits`: of bytes in hand. */
export function createMessageReading(
  longMessages: LongMessages | undefined,
  limits: HeldBytesLimits = requestBytes,
): MessageReading {
  return {
    held: new HeldBytes(limits),
    turns: new ReadingTurns(),
    decompressing: new FairSemaphore({
      running: 2,
      runningOfOne: 1,
      waitingOfOne: 1_000,
      waitMsMax: 30_000,
      busyReason: limits.reason,
    }),
    longMessages,
  };
}

/** A message of a caller, as it is to be read. */
export interface CameMessage {
  readonly bytes: Uint8Array;
  /**
   * What the bytes are of, and what the method takes: the two differ where a body is one field of
   * the message.
   */
  readonly type: DescMessage;
  readonly input: DescMessage;
  readonly format: "json" | "binary";
  /** Whether JSON may have no field that the message has not. */
  readonly isStrict: boolean;
}

/** Whose it is, where its bytes are counted, and when nobody wants it any more. */
export interface MessageOwner {
  readonly accountId: string;
  readonly share: HeldShare;
  readonly signal: AbortSignal;
}

/** A message that may be read at once, within 50 ms. */
export interface AdmittedMessage {
  readonly bytes: Uint8Array;
  /** Gives the message that was read what was read elsewhere. */
  readonly finish?: (message: Message) => void;
}

/** A message with a long list is read elsewhere from here: 64 kB of JSON take 5 ms. */
const longBytesMin = 64 << 10;
const longValuesMin = 2_000;
/** What takes more than a millisecond waits for its turn. */
const turnValuesMin = 500;
const turnBytesMin = 128 << 10;
/** What a message takes in memory for each of its values: 60 in JSON, 110 in the binary form. */
const bytesPerValue = 120;

/**
 * Admits a message to be read on the thread that carries live audio: in its turn, without the list
 * that makes it long. Throws invalid_argument for one of more values than are read at once.
 */
export async function admitMessage(
  came: CameMessage,
  { accountId, share, signal }: MessageOwner,
  { longMessages, turns }: MessageReading,
): Promise<AdmittedMessage> {
  const path = longMessages && lazyPath(came.type);
  let { bytes } = came;
  let finish: AdmittedMessage["finish"];
  let values = path && bytes.length >= longBytesMin ? Infinity : countIn(came);
  if (path && values > longValuesMin) {
    // What is short may stand in a buffer with others.
    const own = bytes.length < longBytesMin ? new Uint8Array(bytes) : bytes;
    const { format, isStrict } = came;
    const message = { bytes: own, format, isStrict, path: path.names };
    const short = await longMessages.shorten(message, { accountId, signal });
    bytes = short.rest;
    values = countIn({ ...came, bytes });
    finish = (message) => {
      const holder = lazyPath(came.input)?.holderOf(message);
      if (holder) short.attach(holder);
    };
  }
  if (values > valuesMax) throw tooManyValues(path?.names.at(-1)?.jsonName);
  if (takesLong(bytes.length, values)) await turns.take(accountId);
  // The message has its texts and recordings anew.
  share.grow(bytes.length + values * bytesPerValue);
  return { bytes, ...(finish && { finish }) };
}

/** Whether a message of so many bytes and values is to be read in its turn. */
export function takesLong(bytes: number, values: number): boolean {
  return bytes > turnBytesMin || values > turnValuesMin;
}

function countIn({ bytes, format, type }: CameMessage): number {
  return format === "json" ? countValues(bytes) : countFields(type, bytes);
}

const lazyPaths = new WeakMap<DescMessage, { readonly path: LazyPath | undefined }>();

function lazyPath(type: DescMessage): LazyPath | undefined {
  let found = lazyPaths.get(type);
  if (found === undefined) {
    found = { path: lazyPathOf(type) };
    lazyPaths.set(type, found);
  }
  return found.path;
}
