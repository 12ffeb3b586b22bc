import { WebSocket, type ClientOptions } from "ws";
import { noteError } from "../spec/secrets.ts";

/** A socket of a dialect, with the messages that it has received. */
export interface DialectStream {
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly messages: readonly any[];
  /** The messages as they came. */
  readonly texts: readonly string[];
  /** The subprotocol that the service chose. */
  readonly protocol: string;
  /** Sends audio, or text as it is. */
  sendRaw(data: Uint8Array | string): void;
  send(message: object): void;
  /** Sends samples in chunks, by default of 100 ms at 16 kHz. */
  sendAudio(bytes: Buffer, chunkBytes?: number): void;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Resolves with the first message that fits. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  waitFor(isIt: (message: any) => boolean): Promise<any>;
  terminate(): void;
}

/** The answer to a handshake that was refused. */
export class RefusedHandshake extends Error {
  readonly status: number;
  readonly body: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- what tests look into, and assert
  readonly json: any;

  constructor(status: number, body: string) {
    super(`HTTP ${status}: ${body}`);
    this.status = status;
    this.body = body;
    this.json = JSON.parse(body);
  }
}

/** Opens a socket. Throws RefusedHandshake if the service refuses it. */
export async function openDialectStream(
  address: string,
  path: string,
  options: ClientOptions & { readonly protocols?: string[] } = {},
): Promise<DialectStream> {
  const { protocols = [], ...own } = options;
  const socket = new WebSocket(`${address.replace("http", "ws")}${path}`, protocols, own);
  const messages: unknown[] = [];
  const texts: string[] = [];
  const looking = new Set<() => void>();
  socket.on("message", (data: Buffer) => {
    const text = data.toString();
    if (/error/i.test(text)) noteError(address, text);
    texts.push(text);
    messages.push(JSON.parse(text));
    for (const look of looking) look();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  await new Promise<void>((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
    socket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("end", () => {
        noteError(address, body);
        reject(new RefusedHandshake(response.statusCode ?? 0, body));
      });
    });
  });
  return {
    messages,
    texts,
    protocol: socket.protocol,
    closed,
    sendRaw: (data) => socket.send(data),
    send: (message) => socket.send(JSON.stringify(message)),
    sendAudio(bytes, chunkBytes = 3200) {
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        socket.send(bytes.subarray(at, at + chunkBytes));
      }
    },
    waitFor: (isIt) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = messages.find(isIt);
          if (found === undefined) return;
          looking.delete(look);
          resolve(found);
        };
        looking.add(look);
        look();
        void closed.then(({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`)));
      }),
    terminate: () => socket.terminate(),
  };
}

/** Returns samples as bytes. */
export function bytesOf(samples: Int16Array): Buffer {
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}
