import type { DescMessage, Message } from "@bufbuild/protobuf";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { HeldBytes, type HeldBytesLimits, type HeldShare } from "../std/held-bytes.ts";
import type { LongMessages } from "../std/long-messages.ts";
import { countFields } from "../transcoding/count-fields.ts";
import { countValues, tooManyValues, valuesMax } from "../transcoding/count-values.ts";
import { lazyPathOf, type LazyPath } from "../transcoding/lazy-path.ts";
import { bodyLimits as bodyLimitsDefault, type BodyLimits } from "./body-pace.ts";
import { ReadingTurns } from "./reading-turns.ts";

/**
 * How much of a node's memory request bodies may use: as received, when decompressed, and as
 * messages.
 */
const requestBytesDefault: HeldBytesLimits = {
  nodeBytesMax: 256 << 20,
  accountBytesMax: 64 << 20,
  reason: "BODIES_FULL",
  what: "request bodies",
};

/** The resources for reading requests, shared by all protocols of a node. */
export interface MessageReading {
  /** The bytes of requests by account; "" stands for all clients without a token. */
  readonly held: HeldBytes;
  /** The limits on how slowly a body may arrive. */
  readonly bodyLimits: BodyLimits;
  /** Turns on the main thread, which also handles live audio. */
  readonly turns: ReadingTurns;
  /** Turns on the threads that decompress. */
  readonly decompressing: FairSemaphore;
  /** The reader of long messages; undefined if no method accepts them. */
  readonly longMessages: LongMessages | undefined;
}

export function createMessageReading({
  longMessages,
  requestBytes = requestBytesDefault,
  bodyLimits = bodyLimitsDefault,
}: {
  readonly longMessages?: LongMessages | undefined;
  readonly requestBytes?: HeldBytesLimits | undefined;
  readonly bodyLimits?: BodyLimits | undefined;
} = {}): MessageReading {
  return {
    held: new HeldBytes(requestBytes),
    bodyLimits,
    turns: new ReadingTurns(),
    decompressing: new FairSemaphore({
      running: 2,
      runningOfOne: 1,
      waitingOfOne: 1_000,
      waitMsMax: 30_000,
      busyReason: requestBytes.reason,
    }),
    longMessages,
  };
}

/** A message as received. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array;
  /**
   * The message type of the bytes. It differs from `input`, the method's type, if the body is one
   * field of the message.
   */
  readonly type: DescMessage;
  readonly input: DescMessage;
  readonly format: "json" | "binary";
  /** Whether unknown fields of JSON are refused. */
  readonly isStrict: boolean;
}

/**
 * The account of a message, the share that counts the message's bytes, and a signal that aborts
 * reading the message.
 */
export interface MessageOwner {
  readonly accountId: string;
  readonly share: HeldShare;
  readonly signal: AbortSignal;
}

/** A message that may be read now, within 50 ms. */
export interface AdmittedMessage {
  readonly bytes: Uint8Array;
  /** Adds to the message the list that was read on another thread. */
  readonly finish?: (message: Message) => void;
}

/**
 * The minimum size of messages whose long lists are read on another thread. Reading 64 kB of JSON
 * takes 5 ms.
 */
const longBytesMin = 64 << 10;
const longValuesMin = 2_000;
/**
 * The minimum number of values in messages that wait for their turn, because reading them takes
 * more than a millisecond.
 */
const turnValuesMin = 500;
const turnBytesMin = 128 << 10;
/** The memory used by a message per value: 60 bytes from JSON, 110 from the binary form. */
const bytesPerValue = 120;

/**
 * Admits a message to be read on the main thread, in its turn and without the list that makes it
 * long. Throws invalid_argument for a message with too many values.
 */
export async function admitMessage(
  received: ReceivedMessage,
  { accountId, share, signal }: MessageOwner,
  { longMessages, turns }: MessageReading,
): Promise<AdmittedMessage> {
  const path = longMessages && lazyPath(received.type);
  let { bytes } = received;
  let finish: AdmittedMessage["finish"];
  let values = path && bytes.length >= longBytesMin ? Infinity : countIn(received);
  if (path && values > longValuesMin) {
    // A short message may share its buffer with others, so it is copied.
    const own = bytes.length < longBytesMin ? new Uint8Array(bytes) : bytes;
    const { format, isStrict } = received;
    const message = { bytes: own, format, isStrict, path: path.names };
    const short = await longMessages.shorten(message, { accountId, signal });
    bytes = short.rest;
    values = countIn({ ...received, bytes });
    finish = (message) => {
      const holder = lazyPath(received.input)?.holderOf(message);
      if (holder) short.attach(holder);
    };
  }
  if (values > valuesMax) throw tooManyValues(path?.names.at(-1)?.jsonName);
  if (takesLong(bytes.length, values)) await turns.take(accountId);
  // The decoded message contains copies of its texts and recordings.
  share.grow(bytes.length + values * bytesPerValue);
  return { bytes, ...(finish && { finish }) };
}

/** Returns whether a message of this size must wait for its turn. */
export function takesLong(bytes: number, values: number): boolean {
  return bytes > turnBytesMin || values > turnValuesMin;
}

function countIn({ bytes, format, type }: ReceivedMessage): number {
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
