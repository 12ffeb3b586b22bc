import { once } from "node:events";
import { WebSocket } from "ws";
import { noteError } from "./secrets.ts";

/** One message of the service on the WebSocket of §4.9. */
export interface StreamMessage {
  readonly result?: {
    readonly results?: readonly {
      readonly alternatives: readonly {
        readonly transcript: string;
        readonly confidence?: number;
        readonly words?: readonly { startTime: string; endTime: string; word: string }[];
      }[];
      readonly isFinal?: boolean;
      readonly stability?: number;
    }[];
    readonly speechEventType?: string;
    readonly speechEventTime?: string;
  };
  readonly error?: { readonly code: number; readonly message: string; readonly details: unknown[] };
}

/** A stream as a client of the specification uses it. */
export interface TestStream {
  readonly messages: readonly StreamMessage[];
  send(message: unknown): void;
  sendRaw(data: string | Buffer, isBinary?: boolean): void;
  /** Sends audio in chunks, by default of 800 samples, as in the example of §4.9. */
  sendAudio(samples: Buffer, chunkBytes?: number): void;
  /** Resolves with the close code once the server has closed. */
  readonly closed: Promise<number>;
  waitFor(isIt: (message: StreamMessage) => boolean): Promise<StreamMessage>;
  terminate(): void;
}

export const streamPath = "/v2beta1/speech:streamingrecognize";

/** Opens the WebSocket; rejects with "HTTP <status>" if the upgrade is refused. */
export async function openStream(
  address: string,
  options: {
    readonly token?: string;
    readonly protocols?: string[];
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    /** Called with each message as it arrives. */
    readonly onMessage?: (message: StreamMessage) => void;
  } = {},
): Promise<TestStream & { readonly protocol: string }> {
  const query = options.token === undefined ? "" : `?token=${encodeURIComponent(options.token)}`;
  const url = `${address.replace("http", "ws")}${options.path ?? streamPath}${query}`;
  const socket = new WebSocket(url, options.protocols ?? [], {
    headers: { ...options.headers },
  });
  const messages: StreamMessage[] = [];
  const waiting = new Set<() => void>();
  socket.on("message", (data: Buffer) => {
    const message: StreamMessage = JSON.parse(data.toString());
    if (message.error) noteError(address, data.toString());
    messages.push(message);
    options.onMessage?.(message);
    for (const look of waiting) look();
  });
  const closed = new Promise<number>((resolve) => {
    socket.on("close", (code) => {
      resolve(code);
    });
  });
  const refused = new Promise<never>((_, reject) => {
    socket.on("unexpected-response", (_request, response) => {
      reject(new Error(`HTTP ${response.statusCode}`));
      socket.terminate();
    });
    socket.on("error", reject);
  });
  refused.catch(() => {});
  await Promise.race([once(socket, "open"), refused]);
  return {
    messages,
    closed,
    protocol: socket.protocol,
    send: (message) => {
      socket.send(JSON.stringify(message));
    },
    sendRaw: (data, isBinary = false) => {
      socket.send(data, { binary: isBinary });
    },
    sendAudio: (samples, chunkBytes = 1600) => {
      for (let at = 0; at < samples.length; at += chunkBytes) {
        const audioContent = samples.subarray(at, at + chunkBytes).toString("base64");
        socket.send(JSON.stringify({ audioContent }));
      }
    },
    waitFor: (isIt) =>
      new Promise((resolve) => {
        const look = () => {
          const found = messages.find(isIt);
          if (!found) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    terminate: () => {
      socket.terminate();
    },
  };
}

/** Returns the first alternatives of the final results, in order. */
export function finalsOf(messages: readonly StreamMessage[]) {
  return messages
    .flatMap(({ result }) => result?.results ?? [])
    .filter(({ isFinal }) => isFinal === true)
    .flatMap(({ alternatives }) => alternatives.slice(0, 1));
}

/** Returns the configuration message for English at 16 kHz. */
export function streamingConfig(
  config: Readonly<Record<string, unknown>> = {},
  streaming: Readonly<Record<string, unknown>> = {},
) {
  return {
    streamingConfig: {
      config: { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US", ...config },
      interimResults: true,
      ...streaming,
    },
  };
}

/** Returns the seconds of a duration in JSON. */
export function secondsOf(duration: string): number {
  return Number(duration.replace(/s$/, ""));
}
