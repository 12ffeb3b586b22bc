import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { chunksOf, syntheticRecording } from "../../src/cli/bench/recording.ts";
import type { MeasuredServer } from "./servers.ts";

/** The length of a chunk, and so the time between two chunks of a stream. */
export const chunkMs = 100;
/** The number of handshakes in progress at a time. */
const openingMax = 50;
/** The time within which every answer arrives after the last chunk. */
const answersMsMax = 30_000;

/**
 * The chunks after which the scripted engine and bare-server.ts answer, in each period of the
 * built-in recording.
 */
const chunksOfPeriod = 37;
const answeredChunks = new Set([1, 6, 11, 16, 21, 26, 35]);

const configuration = {
  config: {
    encoding: "LINEAR16",
    sampleRateHertz: 16_000,
    languageCode: "en-US",
    enableWordTimeOffsets: true,
  },
  interimResults: true,
};
const opening = maskedFrame(Buffer.from(JSON.stringify({ streamingConfig: configuration })));
const chunks = chunksOf(syntheticRecording(1), chunkMs).messages.map(maskedFrame);

/**
 * Open live streams of one server. Their frames are masked beforehand, so that sending them takes
 * little of the machine.
 */
export class PacedSockets implements Disposable {
  /** The times from sending a chunk to its answer. */
  readonly lagsMs: number[] = [];
  readonly #streams: readonly PacedStream[];

  private constructor(sockets: readonly Socket[]) {
    const answered = (ms: number) => this.lagsMs.push(ms);
    this.#streams = sockets.map((socket) => new PacedStream(socket, answered));
  }

  static async open(server: MeasuredServer, count: number): Promise<PacedSockets> {
    const sockets: Socket[] = [];
    while (sockets.length < count) {
      const length = Math.min(openingMax, count - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length }, () => handshake(server)))));
    }
    return new PacedSockets(sockets);
  }

  /**
   * Sends this many chunks of each stream, evenly spread over all streams, and waits for their
   * answers. A speed of 1 is real time.
   */
  async send(chunksOfStream: number, speed = 1): Promise<void> {
    const streams = this.#streams;
    const total = chunksOfStream * streams.length;
    const startMs = performance.now();
    for (let at = 0; at < total;) {
      const due = ((performance.now() - startMs) / chunkMs) * speed * streams.length;
      for (; at < total && at <= due; at += 1) streams[at % streams.length]?.send();
      await sleep(1);
    }
    const endMs = performance.now() + answersMsMax;
    while (streams.some(({ waits }) => waits)) {
      if (performance.now() > endMs) throw new Error("an answer was lost");
      await sleep(10);
    }
  }

  [Symbol.dispose](): void {
    for (const stream of this.#streams) stream[Symbol.dispose]();
  }
}

/** A live stream, whose answers are counted. */
class PacedStream implements Disposable {
  readonly #socket: Socket;
  readonly #answered: (ms: number) => void;
  /** When the chunks were sent whose answers have not arrived. */
  readonly #waiting: number[] = [];
  #chunks = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket, answered: (ms: number) => void) {
    this.#socket = socket;
    this.#answered = answered;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.write(opening);
  }

  /** Whether an answer has not arrived. */
  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  send(): void {
    const frame = chunks[this.#chunks % chunks.length];
    if (!frame) return;
    this.#chunks += 1;
    if (answeredChunks.has(this.#chunks % chunksOfPeriod)) {
      this.#waiting.push(performance.now());
    }
    this.#socket.write(frame);
  }

  /** Reads the frames of a server, which have no mask (RFC 6455, section 5.2). */
  #receive(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= 4) {
      const isLong = bytes[1] === 126;
      const start = isLong ? 4 : 2;
      const end = start + (isLong ? bytes.readUInt16BE(2) : (bytes[1] ?? 0));
      if (bytes.length < end) break;
      this.#take(bytes[0] ?? 0, bytes.subarray(start, end));
      bytes = bytes.subarray(end);
    }
    this.#rest = bytes;
  }

  #take(opcode: number, payload: Buffer): void {
    // Pings need no answer, since messages are signs of life too.
    if (opcode === 0x89) return;
    const sentAt = this.#waiting.shift();
    if (opcode !== 0x81 || sentAt === undefined || !payload.subarray(0, 9).equals(result)) {
      throw new Error(`an unexpected answer: ${payload.toString()}`);
    }
    this.#answered(performance.now() - sentAt);
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

const result = Buffer.from('{"result"');

async function handshake({ url, token }: MeasuredServer): Promise<Socket> {
  const call = request(`${url}/v2beta1/speech:streamingrecognize`, {
    agent: false,
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      "sec-websocket-protocol": `Bearer, ${token}`,
    },
  });
  return await new Promise((resolve, reject) => {
    call.on("upgrade", (_response, socket) => resolve(socket.setNoDelay(true)));
    call.on("error", reject).end();
  });
}

/** Returns a text frame of a client (RFC 6455, section 5.2). */
function maskedFrame(text: Buffer): Buffer {
  const mask = randomBytes(4);
  const header = Buffer.from([0x81, 0x80 | 126, text.length >> 8, text.length & 0xff, ...mask]);
  const masked = text.map((byte, at) => byte ^ (mask[at & 3] ?? 0));
  return Buffer.concat([header, masked]);
}
