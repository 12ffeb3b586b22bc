import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { noteError } from "../spec/secrets.ts";

export interface WyomingEvent {
  readonly type: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly data: any;
}

/** A client of Wyoming, written from what Home Assistant's client sends and reads. */
export interface WyomingClient {
  readonly socket: Socket;
  readonly events: readonly WyomingEvent[];
  /** Sends an event as clients in Python do: its data and payload follow the line. */
  send(type: string, data?: object, payload?: Uint8Array): void;
  /** Sends audio-start, audio in chunks of 1,024 samples and, unless it is open, audio-stop. */
  sendAudio(samples: Uint8Array, options?: { format?: ChunkFormat; isOpen?: boolean }): void;
  /** Resolves with the first event of a type. Rejects if the connection closes before. */
  waitFor(type: string): Promise<WyomingEvent>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
}

export interface ChunkFormat {
  readonly rate: number;
  readonly width: number;
  readonly channels: number;
}

export const homeFormat: ChunkFormat = { rate: 16_000, width: 2, channels: 1 };

/** Returns the bytes of an event as the library of Home Assistant writes it. */
export function eventBytes(type: string, data?: object, payload?: Uint8Array): Buffer {
  const bytes = Buffer.from(data ? JSON.stringify(data) : "");
  const header = {
    type,
    version: "1.8.0",
    ...(data && { data_length: bytes.length }),
    ...(payload && { payload_length: payload.length }),
  };
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(header)}\n`),
    bytes,
    payload ?? Buffer.alloc(0),
  ]);
}

export async function openWyomingClient(address: string, origin: string): Promise<WyomingClient> {
  const { hostname, port } = new URL(`tcp://${address}`);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const events: WyomingEvent[] = [];
  const looking = new Set<() => void>();
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    for (let read = readEvent(rest); read; read = readEvent(rest)) {
      rest = rest.subarray(read.length);
      events.push(read.event);
      if (read.event.type === "error") noteError(origin, JSON.stringify(read.event.data));
      for (const look of looking) look();
    }
  });
  socket.on("error", () => {});
  socket.on("end", () => socket.end());
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  await once(socket, "connect");
  const send = (type: string, data?: object, payload?: Uint8Array): void => {
    socket.write(eventBytes(type, data, payload));
  };
  return {
    socket,
    events,
    send,
    sendAudio(samples, { format = homeFormat, isOpen = false } = {}) {
      send("audio-start", format);
      const chunkBytes = 1_024 * format.width * format.channels;
      for (let at = 0; at < samples.length; at += chunkBytes) {
        send("audio-chunk", format, samples.subarray(at, at + chunkBytes));
      }
      if (!isOpen) send("audio-stop", {});
    },
    waitFor: async (type) =>
      await new Promise((resolve, reject) => {
        const look = (): void => {
          const found = events.find((event) => event.type === type);
          if (!found) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
        const shown = (): string => events.map((event) => JSON.stringify(event)).join(" ");
        void closed.then(() => reject(new Error(`closed without ${type}: ${shown()}`)));
      }),
    closed,
  };
}

/** Reads the first event, whose lengths count bytes. Returns undefined for a part of one. */
function readEvent(bytes: Buffer): { event: WyomingEvent; length: number } | undefined {
  const end = bytes.indexOf("\n");
  if (end === -1) return undefined;
  const { type, data = {}, data_length: size = 0 } = JSON.parse(bytes.toString("utf8", 0, end));
  const length = end + 1 + size;
  if (bytes.length < length) return undefined;
  const more = size === 0 ? {} : JSON.parse(bytes.toString("utf8", end + 1, length));
  return { event: { type, data: { ...data, ...more } }, length };
}
