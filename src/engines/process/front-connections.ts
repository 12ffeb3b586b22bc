import { createServer, type Socket } from "node:net";
import { isSameSecret } from "../../std/same-secret.ts";
import { FrameWriter, jsonPayload, type ListenAt } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { ProcessHost } from "./process-host.ts";

/** The bytes that may wait for a front process. */
const waitingBytesMax = 64 << 20;
/** How long a connection may take to send the credential. */
const enterMsMax = 10_000;

/**
 * The connections of front processes to this engine process. Their frames are those of the pipe,
 * with numbers of sessions that no other connection uses.
 */
export class FrontConnections {
  readonly #host: ProcessHost;
  /** The connections that have sent the credential. */
  readonly #sockets = new Map<FrameWriter, Socket>();

  constructor(host: ProcessHost) {
    this.#host = host;
  }

  /** Sends a report to each. One that reads nothing is given up. */
  report(report: LoadReport): void {
    for (const [writer, socket] of this.#sockets) {
      if (socket.writableLength > waitingBytesMax) socket.destroy();
      else writer.writeJson("load", 0, report);
    }
  }

  listen({ socketPath, credential }: ListenAt, answer: (isListening: boolean) => void): void {
    const server = createServer((socket) => this.#serve(socket, credential));
    server.on("error", () => answer(false));
    server.listen(socketPath, () => answer(true));
  }

  #serve(socket: Socket, credential: string): void {
    const writer = new FrameWriter(socket);
    const reader = new FrameReader();
    const limit = setTimeout(() => socket.destroy(), enterMsMax);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(limit);
      this.#sockets.delete(writer);
      this.#host.leave?.(writer);
    });
    socket.on("data", (chunk: Buffer) => {
      try {
        for (const frame of reader.push(chunk)) {
          if (this.#sockets.has(writer)) {
            this.#host.receive(frame, writer);
          } else if (isSameSecret(jsonPayload("enter", frame), credential)) {
            clearTimeout(limit);
            this.#sockets.set(writer, socket);
          } else {
            throw new Error("the credential is another one");
          }
        }
      } catch {
        // It is not a front process, or its memory is corrupt.
        socket.destroy();
      }
    });
  }
}
