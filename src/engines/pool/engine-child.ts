import type { Log } from "../../std/log.ts";
import { openChildLink } from "./child-link.ts";
import { ChildSession } from "./child-session.ts";
import type { EngineLink } from "./engine-link.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import {
  type EngineDescription,
  type Frame,
  FrameWriter,
  jsonPayload,
  type OpenSession,
  type ReadyProcess,
} from "../protocol/engine-frames.ts";
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

export interface EngineChildOptions {
  readonly source: EngineSource | DiarizerSource;
  /** The name of the model, for the log. */
  readonly model: string;
  /** The time after which a process that has work but makes no progress is killed. */
  readonly stuckMsMax: number;
  readonly log: Log;
  /** Called with each load report of the process. */
  readonly onLoad: (report: LoadReport) => void;
  /** Aborts the start; it has no effect after the start. */
  readonly signal?: AbortSignal;
}

/** One engine process, as seen by the service, which is linked to it. */
export class EngineChild {
  readonly engine: EngineDescription;
  /** The CPU seconds for a second of live speech, as measured when the model was loaded. */
  readonly cpuPerSpeech: number;
  readonly pid: number;
  /** Resolves to the signal or exit code of the process when it has ended. */
  readonly exited: Promise<string>;
  readonly #link: EngineLink;
  readonly #reportMs: number;
  readonly #onLoad: (report: LoadReport) => void;
  readonly #writer: FrameWriter;
  readonly #watchdog: Watchdog;
  readonly #sessions = new Map<number, ChildSession>();
  #lastId = 0;
  /** The suspect session on which the process is working; 0: none. */
  #activeSuspect = 0;
  #hasCommitted = false;
  #liveLateMs = 0;
  #hasExited = false;
  #isStuck = false;
  /** Resolves closeWhenIdle()'s wait for the last session. */
  #onIdle: (() => void) | undefined;

  constructor(link: EngineLink, ready: ReadyProcess, options: EngineChildOptions) {
    this.engine = ready.engine;
    this.cpuPerSpeech = ready.cpuPerSpeech;
    this.#link = link;
    this.pid = link.pid;
    this.#reportMs = reportMsFor(options.stuckMsMax);
    this.#onLoad = options.onLoad;
    this.#writer = new FrameWriter(link.sink);
    this.#watchdog = new Watchdog({
      pid: this.pid,
      stuckMsMax: options.stuckMsMax,
      hasWork: () => this.#sessions.values().some(({ hasWork }) => hasWork),
      onStuck: () => {
        options.log.warn({ pid: this.pid, model: options.model }, "engine.stuck");
        this.#isStuck = true;
        link.kill();
      },
    });
    link.onFrames = (frames) => {
      for (const frame of frames) {
        this.#watchdog.sign();
        this.#take(frame);
      }
    };
    this.exited = link.ended.then(({ how }) => {
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

  /** Why the process ended, if it was still needed. */
  get exitReason(): EngineExit {
    if (this.#isStuck) return "stuck";
    return this.#link.isGarbled ? "garbled" : "crashed";
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
    this.#link.end();
    const timer = setTimeout(() => this.#link.kill(), closeMsMax);
    await this.exited;
    clearTimeout(timer);
  }
}

function reportMsFor(stuckMsMax: number): number {
  return Math.min(reportMsMax, Math.ceil(stuckMsMax / 5));
}

/**
 * Starts an engine process and waits until its model is loaded. If this fails, it throws an Error
 * that names what is missing, and the process has ended.
 */
export async function openEngineChild(options: EngineChildOptions): Promise<EngineChild> {
  const { signal } = options;
  signal?.throwIfAborted();
  const { source, stuckMsMax, log } = options;
  const link = openChildLink({ source, reportMs: reportMsFor(stuckMsMax), log });
  const { promise, resolve, reject } = Promise.withResolvers<ReadyProcess>();
  link.onFrames = (frames) => {
    for (const frame of frames) {
      if (frame.kind === "ready") resolve(jsonPayload("ready", frame));
      else if (frame.kind === "failed") reject(new Error(jsonPayload("failed", frame).message));
    }
  };
  void link.ended.then(({ how }) => reject(new Error(`the engine process ended with ${how}`)));
  const timer = setTimeout(
    () => reject(new Error(`the engine process was not ready within ${loadMsMax / 1000} s`)),
    loadMsMax,
  );
  const abort = () => reject(signal?.reason);
  signal?.addEventListener("abort", abort);
  try {
    const child = new EngineChild(link, await promise, options);
    log.debug({ pid: child.pid, model: options.model }, "engine.ready");
    return child;
  } catch (error) {
    link.kill();
    await link.ended;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
