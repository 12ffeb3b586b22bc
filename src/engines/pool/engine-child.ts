import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { errorFields, type Log } from "../../std/log.ts";
import { ChildSession } from "./child-session.ts";
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
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { DiarizerSource, EngineSource } from "../protocol/engine-source.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { EngineExit } from "../../metrics/recorders.ts";
import type { SessionClient } from "./session-client.ts";
import { Watchdog } from "./watchdog.ts";

/**
 * The time within which an engine process must be ready: large models are read from slow disks.
 */
const loadMsMax = 180_000;
/**
 * The time after the end of its standard input at which a process is killed if it has not ended.
 */
const closeMsMax = 2000;
/**
 * The maximum interval between two load reports of a process; the report is also its heartbeat.
 */
const reportMsMax = 1000;
/** The time constant of the mean delay of live audio. */
const lateSeconds = 3;

/**
 * The environment of engine processes. It contains nothing from the service's environment, because
 * engine processes parse untrusted audio and need no secrets. They read models and searches at
 * scattered addresses, which causes TLB misses with small pages. With this setting, glibc requests
 * huge pages, if the kernel lets programs decide.
 */
const environment = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" };

type PipedProcess = ChildProcessByStdio<Writable, Readable, null>;

export interface EngineChildOptions {
  readonly source: EngineSource | DiarizerSource;
  /** The key for the server of a hosted model, which gets it as a variable of its environment. */
  readonly key?: string | undefined;
  /** The name of the model, for the log. */
  readonly model: string;
  /** The time after which a process that has work but makes no progress is killed. */
  readonly stuckMsMax: number;
  readonly log: Log;
  /** Called with each load report of the process. */
  readonly onLoad: (report: LoadReport) => void;
  /** Called when the server of a hosted model has become absent, or is present again. */
  readonly onAbsence?: (absence: EngineAbsence | undefined) => void;
  /** Aborts the start; it has no effect after the start. */
  readonly signal?: AbortSignal;
}

/** One engine process, as seen by the service. */
export class EngineChild {
  readonly engine: EngineDescription;
  /** The CPU seconds for a second of live speech, as measured when the model was loaded. */
  readonly cpuPerSpeech: number;
  readonly pid: number;
  /** Resolves to the signal or exit code of the process when it has ended. */
  readonly exited: Promise<string>;
  readonly #started: StartedChild;
  readonly #process: PipedProcess;
  readonly #reportMs: number;
  readonly #onLoad: (report: LoadReport) => void;
  readonly #onAbsence: EngineChildOptions["onAbsence"];
  readonly #writer: FrameWriter;
  readonly #watchdog: Watchdog;
  readonly #sessions = new Map<number, ChildSession>();
  #lastId = 0;
  /** The suspect session on which the process is working; 0: none. */
  #activeSuspect = 0;
  #hasCommitted = false;
  #liveLateMs = 0;
  #absence: EngineAbsence | undefined;
  #hasExited = false;
  #isStuck = false;
  /** Resolves closeWhenIdle()'s wait for the last session. */
  #onIdle: (() => void) | undefined;

  constructor(started: StartedChild, ready: ReadyProcess, options: EngineChildOptions) {
    this.engine = ready.engine;
    this.cpuPerSpeech = ready.cpuPerSpeech;
    this.#started = started;
    this.#process = started.process;
    this.pid = started.process.pid ?? 0;
    this.#reportMs = reportMsFor(options.stuckMsMax);
    this.#onLoad = options.onLoad;
    this.#onAbsence = options.onAbsence;
    this.#absence = ready.absence;
    this.#writer = new FrameWriter(started.process.stdin);
    this.#watchdog = new Watchdog({
      pid: this.pid,
      stuckMsMax: options.stuckMsMax,
      hasWork: () => this.#sessions.values().some(({ hasWork }) => hasWork),
      onStuck: () => {
        options.log.warn({ pid: this.pid, model: options.model }, "engine.stuck");
        this.#isStuck = true;
        this.#process.kill("SIGKILL");
      },
    });
    started.onFrames = (frames) => {
      for (const frame of frames) {
        this.#watchdog.sign();
        this.#take(frame);
      }
    };
    this.exited = started.exited.then((how) => {
      this.#hasExited = true;
      this.#watchdog[Symbol.dispose]();
      for (const session of this.#sessions.values()) {
        session.end({ kind: "lost", wasActive: session.id === this.#activeSuspect });
      }
      this.#sessions.clear();
      return how;
    });
  }

  /** Whether the process has ended, so that sessions can no longer be opened in it. */
  get hasExited(): boolean {
    return this.#hasExited;
  }

  /** Why the server of a hosted model cannot recognize now; undefined if it can. */
  get absence(): EngineAbsence | undefined {
    return this.#absence;
  }

  /** Why the process ended, if it was still needed. */
  get exitReason(): EngineExit {
    if (this.#isStuck) return "stuck";
    return this.#started.isGarbled ? "garbled" : "crashed";
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /**
   * Whether any session of the process has committed. A process that did useful work is restarted
   * immediately.
   */
  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /** Whether the process has reported recently; if not, it is busy with a long task. */
  get isResponsive(): boolean {
    return this.#watchdog.silentMs < 2 * this.#reportMs;
  }

  /** The share of a core that the live sessions of the process need. */
  get liveDemand(): number {
    return this.#sessions
      .values()
      .reduce((sum, { client }) => sum + (client.mode === "live" ? client.demand.share : 0), 0);
  }

  /** The share of a core that the live sessions of the process need for full effort. */
  get fullDemand(): number {
    return this.#sessions.values().reduce((sum, { client }) => sum + client.fullDemand, 0);
  }

  /** The mean delay between the arrival of live audio and its processing. */
  get liveLateMs(): number {
    const hasLive = this.#sessions.values().some(({ client }) => client.mode === "live");
    return hasLive ? this.#liveLateMs : 0;
  }

  /** The seconds of audio that sessions of these modes have sent and that no commit covers. */
  uncommittedSeconds(modes: readonly RecognitionMode[]): number {
    return this.#sessions
      .values()
      .filter(({ client }) => modes.includes(client.mode))
      .reduce((sum, { client }) => sum + client.uncommittedSeconds, 0);
  }

  /** Begins a session, or continues a session of another process. */
  open(client: SessionClient, payload: OpenSession): ChildSession {
    const id = (this.#lastId = (this.#lastId % 0xffff_ffff) + 1);
    const session = new ChildSession(id, client, this.#writer);
    this.#sessions.set(id, session);
    this.#writer.writeJson("open", id, payload);
    return session;
  }

  /** Ends a session immediately. */
  leave(session: ChildSession): void {
    if (this.#sessions.delete(session.id)) this.#writer.write("close", session.id);
    session.end({ kind: "done" });
    this.#checkIdle();
  }

  #take(frame: Frame): void {
    if (frame.kind === "load") {
      this.#measure(jsonPayload("load", frame));
      return;
    }
    if (frame.kind === "working") {
      this.#activeSuspect = frame.session;
      return;
    }
    if (frame.kind === "committed") this.#hasCommitted = true;
    if (frame.kind === "error") {
      const { absence } = jsonPayload("error", frame);
      if (absence) this.#setAbsence(absence);
    }
    const session = this.#sessions.get(frame.session);
    // Frames may still arrive for a session that has been left.
    session?.take(frame);
    if (session?.isOver) this.#sessions.delete(session.id);
    this.#checkIdle();
  }

  #measure(report: LoadReport): void {
    for (const [id, share] of report.live) {
      this.#sessions.get(id)?.client.demand.measured(share, report.seconds);
    }
    const weight = 1 - Math.exp(-report.seconds / lateSeconds);
    this.#liveLateMs += weight * (report.liveLateMs - this.#liveLateMs);
    this.#onLoad(report);
    this.#setAbsence(report.absence);
  }

  #setAbsence(absence: EngineAbsence | undefined): void {
    const before = this.#absence;
    this.#absence = absence;
    if (before?.kind !== absence?.kind) this.#onAbsence?.(absence);
  }

  #checkIdle(): void {
    if (this.#sessions.size === 0) this.#onIdle?.();
  }

  /** Ends the process when its last session has ended. */
  async closeWhenIdle(): Promise<void> {
    if (this.#sessions.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      await Promise.race([promise, this.exited]);
    }
    await this.close();
  }

  /** Ends the process, and its sessions are lost. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), closeMsMax);
    await this.exited;
    clearTimeout(timer);
  }
}

function reportMsFor(stuckMsMax: number): number {
  return Math.min(reportMsMax, Math.ceil(stuckMsMax / 5));
}

interface StartedChild {
  readonly process: PipedProcess;
  readonly exited: Promise<string>;
  onFrames: (frames: Iterable<Frame>) => void;
  /** Whether the process has sent something that is not a frame. */
  isGarbled: boolean;
}

/**
 * Starts an engine process and waits until its model is loaded. If this fails, it throws an Error
 * that names what is missing, and the process has ended.
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
  void started.exited.then((how) => reject(new Error(`the engine process ended with ${how}`)));
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
    await started.exited;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

function start({ source, key, stuckMsMax, log }: EngineChildOptions): StartedChild {
  const isDiarizer = source.engine === "diarizer";
  const name = isDiarizer ? "../process/diarizer-process.ts" : "../process/engine-process.ts";
  const program = fileURLToPath(new URL(name, import.meta.url));
  const parameters = [JSON.stringify(source), String(reportMsFor(stuckMsMax))];
  const child = spawn(process.execPath, [program, ...parameters], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...environment, ...(key !== undefined && { MODEL_KEY: key }) },
  });
  const exited = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(signal ?? `code ${code}`));
  });
  const started: StartedChild = { process: child, exited, onFrames() {}, isGarbled: false };
  const reader = new FrameReader();
  child.stdout.on("data", (chunk: Buffer) => {
    try {
      started.onFrames(reader.push(chunk));
    } catch (error) {
      // The process's memory is corrupt, or a library wrote to standard output. Nothing that it
      // sends can be trusted any more.
      log.error({ pid: child.pid, ...errorFields(error) }, "engine.garbled");
      started.isGarbled = true;
      child.stdout.removeAllListeners("data").resume();
      child.kill("SIGKILL");
    }
  });
  // A process that has ended no longer reads; `exited` reports that.
  child.stdin.on("error", () => {});
  return started;
}
