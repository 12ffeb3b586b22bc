import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { errorFields, type Log } from "../../std/log.ts";
import { ChildSession, type SessionOwner } from "./child-session.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import {
  type EngineDescription,
  type Frame,
  FrameReader,
  FrameWriter,
  jsonPayload,
  type OpenSession,
  type ReadyProcess,
} from "../protocol/engine-frames.ts";
import type { DiarizerSource, EngineSource } from "../protocol/engine-source.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { Watchdog } from "./watchdog.ts";

/**
 * An engine process must answer that it is ready within this time: large models come from slow
 * disks.
 */
const loadMsMax = 180_000;
/** After standard input has ended, a process that does not go is killed. */
const closeMsMax = 2000;
/** A process tells its load so often, which is also its sign of life. */
const reportMsMax = 1000;
/** How late audio is heard is the mean of about so long. */
const lateSeconds = 3;

/**
 * Nothing of the service's: an engine process parses what strangers send and needs no secret. Its
 * models and searches lie in huge pages where the machine leaves that to programs: they are read
 * here and there, all of them, and the way to a small page is long.
 */
const environment = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

type PipedProcess = ChildProcessByStdio<Writable, Readable, null>;

export interface EngineChildOptions {
  readonly source: EngineSource | DiarizerSource;
  /** Its name, for the log. */
  readonly model: string;
  /** A process that has work and does nothing for this long is killed. */
  readonly stuckMsMax: number;
  readonly log: Log;
  /** Called with each report of its load. */
  readonly onLoad: (report: LoadReport) => void;
  /** Gives up starting it; afterwards it means nothing. */
  readonly signal?: AbortSignal;
}

/** One engine process, seen from the service. */
export class EngineChild {
  readonly engine: EngineDescription;
  /** CPU seconds that a second of live speech took when it was started. */
  readonly cpuPerSpeech: number;
  readonly pid: number;
  /** Resolves when the process has gone, with how. */
  readonly gone: Promise<string>;
  readonly #process: PipedProcess;
  readonly #reportMs: number;
  readonly #onLoad: (report: LoadReport) => void;
  readonly #writer: FrameWriter;
  readonly #watchdog: Watchdog;
  readonly #sessions = new Map<number, ChildSession>();
  #lastId = 0;
  /** The suspect session that is being worked on. */
  #workingOn = 0;
  #hasSettled = false;
  #liveLateMs = 0;
  #isGone = false;
  /** Called when there are no sessions, by who waits for that. */
  #idle: (() => void) | undefined;

  constructor(started: StartedChild, ready: ReadyProcess, options: EngineChildOptions) {
    this.engine = ready.engine;
    this.cpuPerSpeech = ready.cpuPerSpeech;
    this.#process = started.process;
    this.pid = started.process.pid ?? 0;
    this.#reportMs = reportMsFor(options.stuckMsMax);
    this.#onLoad = options.onLoad;
    this.#writer = new FrameWriter(started.process.stdin);
    this.#watchdog = new Watchdog({
      pid: this.pid,
      stuckMsMax: options.stuckMsMax,
      hasWork: () => this.#sessions.values().some(({ hasWork }) => hasWork),
      onStuck: () => {
        options.log.warn({ pid: this.pid, model: options.model }, "engine.stuck");
        this.#process.kill("SIGKILL");
      },
    });
    started.onFrames = (frames) => {
      for (const frame of frames) {
        this.#watchdog.sign();
        this.#take(frame);
      }
    };
    this.gone = started.gone.then((how) => {
      this.#isGone = true;
      this.#watchdog[Symbol.dispose]();
      for (const session of this.#sessions.values()) {
        session.end({ kind: "lost", wasInHand: session.id === this.#workingOn });
      }
      this.#sessions.clear();
      return how;
    });
  }

  /** The process has gone: nothing can be opened in it any more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /**
   * Whether it ever got anything done: a process that did and dies is worth starting again at once.
   */
  get hasSettled(): boolean {
    return this.#hasSettled;
  }

  /** Whether it has told of itself lately: one that has not is in the middle of something long. */
  get isResponsive(): boolean {
    return this.#watchdog.silentMs < 2 * this.#reportMs;
  }

  /** Share of a core that its live sessions need. */
  get liveDemand(): number {
    return this.#sessions
      .values()
      .reduce((sum, { owner }) => sum + (owner.mode === "live" ? owner.demand.share : 0), 0);
  }

  /** How late live audio is heard. */
  get liveLateMs(): number {
    const hasLive = this.#sessions.values().some(({ owner }) => owner.mode === "live");
    return hasLive ? this.#liveLateMs : 0;
  }

  /** Seconds of audio that sessions of these modes were given and have not settled. */
  unsettledSeconds(modes: readonly RecognitionMode[]): number {
    return this.#sessions
      .values()
      .filter(({ owner }) => modes.includes(owner.mode))
      .reduce((sum, { owner }) => sum + owner.unsettledSeconds(), 0);
  }

  /** Begins a session, or goes on with one of another process. */
  open(owner: SessionOwner, payload: OpenSession): ChildSession {
    const id = (this.#lastId = (this.#lastId % 0xffff_ffff) + 1);
    const session = new ChildSession(id, owner, this.#writer);
    this.#sessions.set(id, session);
    this.#writer.writeJson("open", id, payload);
    return session;
  }

  /** Ends a session that is not wanted any more. */
  leave(session: ChildSession): void {
    if (this.#sessions.delete(session.id)) this.#writer.write("close", session.id);
    session.end({ kind: "done" });
    this.#tellIdle();
  }

  #take(frame: Frame): void {
    if (frame.kind === "load") {
      this.#measure(jsonPayload("load", frame));
      return;
    }
    if (frame.kind === "working") {
      this.#workingOn = frame.session;
      return;
    }
    if (frame.kind === "settled") this.#hasSettled = true;
    const session = this.#sessions.get(frame.session);
    // Answers may be on their way to a session that has been left.
    session?.take(frame);
    if (session?.isOver) this.#sessions.delete(session.id);
    this.#tellIdle();
  }

  #measure(report: LoadReport): void {
    for (const [id, share] of report.live) {
      this.#sessions.get(id)?.owner.demand.measured(share, report.seconds);
    }
    const weight = 1 - Math.exp(-report.seconds / lateSeconds);
    this.#liveLateMs += weight * (report.liveLateMs - this.#liveLateMs);
    this.#onLoad(report);
  }

  #tellIdle(): void {
    if (this.#sessions.size === 0) this.#idle?.();
  }

  /** Ends the process when its last session has ended. */
  async closeWhenIdle(): Promise<void> {
    if (this.#sessions.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#idle = resolve;
      await Promise.race([promise, this.gone]);
    }
    await this.close();
  }

  /** Ends the process; its sessions are lost. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), closeMsMax);
    await this.gone;
    clearTimeout(timer);
  }
}

function reportMsFor(stuckMsMax: number): number {
  return Math.min(reportMsMax, Math.ceil(stuckMsMax / 5));
}

interface StartedChild {
  readonly process: PipedProcess;
  readonly gone: Promise<string>;
  onFrames: (frames: Iterable<Frame>) => void;
}

/**
 * Starts an engine process and waits until its models are loaded. Throws an Error that says what is
 * missing; then it has gone.
 */
export async function openEngineChild(options: EngineChildOptions): Promise<EngineChild> {
  const { signal } = options;
  signal?.throwIfAborted();
  const started = start(options);
  const { promise, resolve, reject } = Promise.withResolvers<ReadyProcess>();
  started.onFrames = (frames) => {
    for (const frame of frames) {
      if (frame.kind === "ready") resolve(jsonPayload("ready", frame));
      else if (frame.kind === "failed") reject(new Error(jsonPayload("failed", frame).message));
    }
  };
  void started.gone.then((how) => reject(new Error(`the engine process ended with ${how}`)));
  const timer = setTimeout(
    () => reject(new Error(`the engine process was not ready within ${loadMsMax / 1000} s`)),
    loadMsMax,
  );
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    const child = new EngineChild(started, await promise, options);
    options.log.debug({ pid: child.pid, model: options.model }, "engine.ready");
    return child;
  } catch (error) {
    started.process.kill("SIGKILL");
    await started.gone;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function start({ source, stuckMsMax, log }: EngineChildOptions): StartedChild {
  const isDiarizer = source.engine === "diarizer";
  const name = isDiarizer ? "../process/diarizer-process.ts" : "../process/engine-process.ts";
  const program = fileURLToPath(new URL(name, import.meta.url));
  const parameters = [JSON.stringify(source), String(reportMsFor(stuckMsMax))];
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
    env: environment,
  });
  const gone = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const started: StartedChild = { process: child, gone, onFrames() {} };
  const reader = new FrameReader();
  child.stdout.on("data", (chunk: Buffer) => {
    try {
      started.onFrames(reader.push(chunk));
    } catch (error) {
      // Its memory is broken, or a library wrote where it should not: nothing that it says can be
      // believed any more.
      log.error({ pid: child.pid, ...errorFields(error) }, "engine.garbled");
      child.stdout.removeAllListeners("data").resume();
      child.kill("SIGKILL");
    }
  });
  // A process that has gone no longer reads; `gone` tells it.
  child.stdin.on("error", () => {});
  return started;
}
