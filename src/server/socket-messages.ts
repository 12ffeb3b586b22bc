import type { DescMethodBiDiStreaming, Message } from "@bufbuild/protobuf";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { HeldShare } from "../std/held-bytes.ts";
import { ServiceError } from "../std/service-error.ts";
import { countValues } from "../transcoding/count-values.ts";
import { readJson, readSingleBytes } from "../transcoding/read-json.ts";
import { TinyChunks, tinyChunks } from "./tiny-chunks.ts";
import { countSocketBytes } from "./count-socket-bytes.ts";
import { closeGraceMs } from "./http.ts";
import { MessageQueue } from "./message-queue.ts";
import { takesLong } from "./message-reading.ts";
import type { ReadingTurns } from "./reading-turns.ts";

/** The maximum message size: 8 s of 48 kHz audio in base64. */
export const messageBytesMax = 1 << 20;
/** The ErrorInfo.reason for a message that exceeds this size. */
export const tooBig = "MESSAGE_TOO_LARGE";
/**
 * The maximum number of objects, lists and members in one message. A configuration has hundreds.
 * Reading the maximum takes 10 ms.
 */
const valuesMax = 5_000;
/**
 * The maximum size of the messages that wait for the method. Above this limit, the socket is
 * paused.
 */
const waitingBytesMax = 256 << 10;

export interface MessageParts {
  readonly method: DescMethodBiDiStreaming;
  readonly accountId: string;
  /** Counts the memory of incomplete messages. The memory is released when the socket closes. */
  readonly share: HeldShare;
  readonly turns: ReadingTurns;
  /** The underlying connection of the socket. */
  readonly raw: Duplex;
}

/**
 * Returns the messages of a socket for its method. Messages are read as they arrive, and long
 * messages in their turn.
 */
export function socketMessages(socket: WebSocket, parts: MessageParts): MessageQueue<Message> {
  return new SocketMessages(socket, parts).queue;
}

class SocketMessages {
  readonly queue: MessageQueue<Message>;
  readonly #socket: WebSocket;
  readonly #parts: MessageParts;
  /**
   * The pending read of the last message, while that message waits for its turn. Later messages
   * wait behind it.
   */
  #reading: Promise<void> | undefined;
  #isFull = false;

  constructor(socket: WebSocket, parts: MessageParts) {
    this.#socket = socket;
    this.#parts = parts;
    const source = { pause: () => this.#flow(true), resume: () => this.#flow(false) };
    this.queue = new MessageQueue(source, waitingBytesMax);
    countSocketBytes(parts.raw, parts.share, this.queue);
    this.#listen();
  }

  #listen(): void {
    const { method, share, raw } = this.#parts;
    const pieces = new TinyChunks();
    const isFlood = (bytes: number): boolean => {
      if (!pieces.areTiny(bytes)) return false;
      this.queue.fail(tinyChunks());
      // The other frames of the same read are discarded.
      setTimeout(() => raw.destroy(), closeGraceMs).unref();
      return true;
    };
    // JSON in binary messages is read as well: clients that send bytes do not distinguish the two.
    this.#socket.on("message", (data: Buffer) => {
      share.shrink(Infinity);
      if (this.queue.isEnded || isFlood(data.length)) return;
      // A chunk of audio is one value, which is neither counted nor parsed.
      const isNext = this.#reading === undefined && !takesLong(data.length, 1);
      const audio = isNext ? readSingleBytes(method.input, data) : undefined;
      if (audio) {
        this.queue.push(audio, data.length);
        return;
      }
      const read = (): void => {
        try {
          this.queue.push(readMessage(method, data), data.length);
        } catch (error) {
          this.queue.fail(error);
        }
      };
      if (this.#reading === undefined && !needsTurn(data)) read();
      else this.#readInTurn(read);
    });
  }

  /** Reads a message when it is its turn. The socket is paused until then. */
  #readInTurn(read: () => void): void {
    const reading = this.#whenTurn(this.#reading).then(() => {
      read();
      if (this.#reading !== reading) return;
      this.#reading = undefined;
      this.#flow(this.#isFull);
    });
    this.#reading = reading;
    this.#flow(this.#isFull);
  }

  async #whenTurn(before: Promise<void> | undefined): Promise<void> {
    await before;
    await this.#parts.turns.take(this.#parts.accountId);
  }

  #flow(isFull: boolean): void {
    this.#isFull = isFull;
    if (isFull || this.#reading) this.#socket.pause();
    else this.#socket.resume();
  }
}

/**
 * Whether reading a message takes long enough to delay others. A message that is refused does not
 * take long.
 */
function needsTurn(data: Buffer): boolean {
  try {
    return takesLong(data.length, countValues(data, valuesMax));
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

function readMessage(method: DescMethodBiDiStreaming, data: Buffer): Message {
  if (data.length > messageBytesMax) {
    const problem = `a message has ${data.length} bytes; at most ${messageBytesMax} are allowed`;
    throw new ServiceError("invalid_argument", problem, { reason: tooBig });
  }
  if (countValues(data, valuesMax) > valuesMax) {
    const problem = `a message has more than ${valuesMax} values`;
    throw new ServiceError("invalid_argument", problem, { reason: "MESSAGE_TOO_MANY_VALUES" });
  }
  return readJson(method.input, data);
}
