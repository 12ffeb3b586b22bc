import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import {
  bytesOfSamples,
  type EngineDescription,
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  type SessionOptions,
} from "./engine-frames.ts";
import { RecognitionQueue } from "./recognition-queue.ts";
import { endUtterance, type Recognition } from "./recognizer.ts";
import type { ReplayableInput } from "./replayable-input.ts";

/** An engine process must answer that it is ready within this time. */
const loadMsMax = 60_000;
/** After standard input has ended, a process that does not go is killed. */
const closeMsMax = 2000;
/** Audio sent and not yet heard, in seconds. Who speaks live waits for little; a recording may as well be there. */
const unheardSecondsMax = { live: 2, short: 30, job: 30 } as const;
/** Audio in one frame, so that no session holds the pipe. */
const frameSeconds = 0.1;

/** ErrorInfo.reason of a session whose engine process died. */
export const engineLost = "ENGINE_LOST";

type PipedProcess = ChildProcessByStdio<Writable, Readable, null>;

interface ChildSession {
  readonly results: RecognitionQueue;
  readonly unheardMax: number;
  unheard: number;
  /** Wakes the sender when there is room again, or nothing to send for. */
  wake: (() => void) | undefined;
}

/** One engine process, seen from the service. */
export class EngineChild {
  readonly engines: readonly EngineDescription[];
  readonly pid: number;
  /** Resolves when the process has gone, with how. */
  readonly gone: Promise<string>;
  readonly #process: PipedProcess;
  readonly #writer: FrameWriter;
  readonly #sessions = new Map<number, ChildSession>();
  #lastId = 0;
  #isGone = false;

  constructor(started: StartedChild, engines: readonly EngineDescription[]) {
    this.engines = engines;
    this.#process = started.process;
    this.pid = started.process.pid ?? 0;
    this.#writer = new FrameWriter(started.process.stdin);
    started.onFrame = (frame) => this.#take(frame);
    this.gone = started.gone.then((how) => {
      this.#isGone = true;
      for (const session of this.#sessions.values()) fail(session, lostError());
      this.#sessions.clear();
      return how;
    });
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** Recognises what `input` holds from its first item on; leaving the loop frees the session. */
  async *recognize(
    input: ReplayableInput,
    options: SessionOptions,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Recognition, void, undefined> {
    signal?.throwIfAborted();
    if (this.#isGone) throw lostError();
    const id = (this.#lastId = (this.#lastId % 0xffff_ffff) + 1);
    const session: ChildSession = {
      results: new RecognitionQueue(),
      unheardMax: unheardSecondsMax[options.mode] * options.sampleRateHertz,
      unheard: 0,
      wake: undefined,
    };
    const abort = () => fail(session, signal?.reason);
    signal?.addEventListener("abort", abort);
    this.#sessions.set(id, session);
    this.#writer.writeJson("open", id, options);
    this.#send(id, session, input, options).catch((error: unknown) => fail(session, error));
    try {
      yield* session.results.read();
    } finally {
      signal?.removeEventListener("abort", abort);
      session.results.end();
      session.wake?.();
      if (this.#sessions.delete(id)) this.#writer.write("close", id);
    }
  }

  async #send(
    id: number,
    session: ChildSession,
    input: ReplayableInput,
    options: SessionOptions,
  ): Promise<void> {
    const frameSamples = Math.ceil(options.sampleRateHertz * frameSeconds);
    for (let index = 0; ; index++) {
      const item = await input.at(index);
      if (session.results.isEnded) return;
      if (item === undefined) break;
      if (item === endUtterance) {
        this.#writer.write("endUtterance", id);
        continue;
      }
      for (let at = 0; at < item.length; at += frameSamples) {
        while (session.unheard >= session.unheardMax) {
          await new Promise<void>((resolve) => (session.wake = resolve));
          if (session.results.isEnded) return;
        }
        const part = item.subarray(at, at + frameSamples);
        session.unheard += part.length;
        this.#writer.write("audio", id, bytesOfSamples(part));
      }
    }
    this.#writer.write("endInput", id);
  }

  #take(frame: Frame): void {
    const session = this.#sessions.get(frame.session);
    // Answers may be on their way to a session that has been left.
    if (!session) return;
    switch (frame.kind) {
      case "result":
        session.results.push(jsonPayload("result", frame));
        break;
      case "heard":
        session.unheard -= jsonPayload("heard", frame);
        session.wake?.();
        break;
      case "done":
        this.#sessions.delete(frame.session);
        session.results.end();
        break;
      case "error": {
        this.#sessions.delete(frame.session);
        const { message, stack } = jsonPayload("error", frame);
        const error = new Error(`in the engine process: ${message}`);
        if (stack !== undefined) error.stack = stack;
        fail(session, error);
        break;
      }
      case "open":
      case "audio":
      case "endUtterance":
      case "endInput":
      case "close":
      case "ready":
      case "failed":
        throw new Error(`an engine process sent a ${frame.kind} frame`);
    }
  }

  /** Ends the process; its sessions fail. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), closeMsMax);
    await this.gone;
    clearTimeout(timer);
  }
}

function fail(session: ChildSession, error: unknown): void {
  session.results.end({ error });
  session.wake?.();
}

function lostError(): ServiceError {
  return new ServiceError("unavailable", "the speech engine was lost; try again", {
    reason: engineLost,
    retryAfterMs: 1000,
  });
}

interface StartedChild {
  readonly process: PipedProcess;
  readonly gone: Promise<string>;
  onFrame: (frame: Frame) => void;
}

/** Starts an engine process and waits until its models are loaded. Throws an Error that says what is missing. */
export async function openEngineChild(engine: string, log: Log): Promise<EngineChild> {
  const started = start(engine);
  const { promise, resolve, reject } = Promise.withResolvers<readonly EngineDescription[]>();
  started.onFrame = (frame) => {
    if (frame.kind === "ready") resolve(jsonPayload("ready", frame));
    else reject(new Error(jsonPayload("failed", frame).message));
  };
  void started.gone.then((how) => reject(new Error(`the engine process ended with ${how}`)));
  const timer = setTimeout(
    () => reject(new Error(`the engine process was not ready within ${loadMsMax / 1000} s`)),
    loadMsMax,
  );
  try {
    const child = new EngineChild(started, await promise);
    log.debug({ pid: child.pid, engines: child.engines }, "engine.ready");
    return child;
  } catch (error) {
    started.process.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function start(engine: string): StartedChild {
  const program = fileURLToPath(new URL("engine-process.ts", import.meta.url));
  // Nothing of the environment: this process parses what strangers send and needs no secret of the service.
  const child = spawn(process.execPath, [program, engine], {
    stdio: ["pipe", "pipe", "inherit"],
    env: {},
  });
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const started: StartedChild = { process: child, gone, onFrame() {} };
  const reader = new FrameReader();
  child.stdout.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) started.onFrame(frame);
  });
  // A process that has gone no longer reads; `gone` tells it.
  child.stdin.on("error", () => {});
  return started;
}
