import { connect, type Socket } from "node:net";
import process from "node:process";
import { errorFields, type Log } from "../../std/log.ts";
import { type Frame, FrameWriter, GarbledFrame, type ListenAt } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import type { EngineLink, LinkEnd } from "./engine-link.ts";

interface SocketLinkOptions {
  readonly pid: number;
  readonly log: Log;
}

/**
 * The link of a front process to an engine process of its node, which the main process has started.
 */
export class SocketLink implements EngineLink {
  readonly pid: number;
  readonly sink: Socket;
  readonly ended: Promise<LinkEnd>;
  onFrames: (frames: Iterable<Frame>) => void = () => {};
  readonly #resolve: (end: LinkEnd) => void;
  #isGarbled = false;
  #wasKilled = false;

  constructor({ socketPath, credential }: ListenAt, { pid, log }: SocketLinkOptions) {
    this.pid = pid;
    const { promise, resolve } = Promise.withResolvers<LinkEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    const socket = connect(socketPath);
    this.sink = socket;
    socket.on("error", (error) => this.close({ how: error.message, isOfProcess: true }));
    socket.on("close", () => this.close({ how: "its connection ended", isOfProcess: true }));
    const reader = new FrameReader();
    socket.on("data", (chunk: Buffer) => {
      try {
        this.onFrames(reader.push(chunk));
      } catch (error) {
        log.error({ pid, ...errorFields(error) }, "engine.garbled");
        this.#isGarbled = error instanceof GarbledFrame;
        // Its memory is corrupt. A fault of this process costs no other one its sessions.
        if (this.#isGarbled) this.kill();
        else this.close({ how: "this process failed", isOfProcess: false });
      }
    });
    const writer = new FrameWriter(socket);
    writer.writeJson("enter", 0, credential);
    writer.flush();
  }

  get isGarbled(): boolean {
    return this.#isGarbled;
  }

  /** Whether this process has killed the engine process. */
  get wasKilled(): boolean {
    return this.#wasKilled;
  }

  /** Ends the link. The process goes on. */
  close(end: LinkEnd): void {
    this.#resolve(end);
    this.sink.destroy();
  }

  end(): void {
    this.close({ how: "closed", isOfProcess: false });
  }

  /** Kills the process. The main process notices its end, and starts another one. */
  kill(): void {
    if (this.sink.destroyed) return;
    this.#wasKilled = true;
    try {
      process.kill(this.pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
    this.close({ how: "SIGKILL", isOfProcess: true });
  }
}
