import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, type Log } from "../../std/log.ts";
import { ChildLoad, type UseByOthers } from "./child-load.ts";
import { ChildSession } from "./child-session.ts";
import type { EngineLink } from "./engine-link.ts";
import type { Machine } from "./machine.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import {
  type EngineDescription,
  type Frame,
  FrameWriter,
  GarbledFrame,
  jsonPayload,
  type ListenAt,
  type OpenSession,
  type ReadyProcess,
} from "../protocol/engine-frames.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { currentTraceparent } from "../../tracing/tracing.ts";
import type { EngineExit } from "../../metrics/recorders.ts";
import type { OpenedSession } from "./opened-session.ts";
import type { SessionClient } from "./session-client.ts";
import { Watchdog, type WatchdogOptions } from "./watchdog.ts";

/**
 * The time after the end of its standard input at which a process is killed if it has not ended.
 */
const closeMsMax = 2000;
/**
 * The maximum interval between two load reports of a process; the report is also its heartbeat.
 */
const reportMsMax = 1000;

export interface EngineChildOptions {
  /** The name of the model, for the log. */
  readonly model: string;
  /** The time after which a process that has work but makes no progress is killed. */
  readonly stuckMsMax: number;
  readonly log: Log;
  /** The machine on which the process runs. */
  readonly machine: Machine;
  /** Called with each load report of the process. */
  readonly onLoad: (report: LoadReport) => void;
  /**
   * Checks each frame of a process of an engine node. Throws if it cannot be trusted. Default: the
   * process is this same program, and is trusted.
   */
  readonly check?: (frame: Frame, session: ChildSession | undefined) => Frame;
  /** How the kernel reports on the process. Default: by its pid. */
  readonly readSigns?: WatchdogOptions["readSigns"];
  /**
   * The number after which those of its sessions begin, if several processes are connected to the
   * engine process. Default: 0.
   */
  readonly numbersFrom?: number;
  /** Called when the server of a hosted model has become absent, or is present again. */
  readonly onAbsence?: (absence: EngineAbsence | undefined) => void;
}

/** The time within which front processes have reported the sessions that they have. */
const othersMsMax = 10_000;
/**
 * The time within which a process listens for front processes. Without an answer, their frames pass
 * through this process.
 */
const listenMsMax = 10_000;
/**
 * The numbers of sessions that each process has which is connected to an engine process. The main
 * process of a node has the first ones.
 */
export const sessionNumbers = 1 << 24;

/** What an engine node passes on to its clients (nodes/client-stream.ts). */
export interface ProcessObserver {
  loaded(report: LoadReport): void;
  /** The process works on this session, which is a suspect; 0: on none. */
  working(session: number): void;
}

/** One engine process, as seen by the service, which is linked to it. */
export class EngineChild {
  readonly engine: EngineDescription;
  /** The CPU seconds for a second of live speech, as measured when the model was loaded. */
  readonly cpuPerSpeech: number;
  readonly pid: number;
  readonly machine: Machine;
  /** Set while an engine node shares this process with its clients. */
  observer: ProcessObserver | undefined;
  /** Resolves to the signal or exit code of the process when it has ended. */
  readonly exited: Promise<string>;
  readonly #link: EngineLink;
  /** The time after which it is killed if it has work but makes no progress. */
  readonly stuckMsMax: number;
  readonly #reportMs: number;
  readonly #onLoad: (report: LoadReport) => void;
  readonly #onAbsence: EngineChildOptions["onAbsence"];
  readonly #numbersFrom: number;
  readonly #model: string;
  readonly #log: Log;
  readonly #writer: FrameWriter;
  readonly #watchdog: Watchdog;
  readonly #sessions = new Map<number, OpenedSession>();
  readonly #load = new ChildLoad(this.#sessions);
  #lastId = 0;
  /** The suspect session on which the process is working; 0: none. */
  #activeSuspect = 0;
  #hasCommitted = false;
  #absence: EngineAbsence | undefined;
  #hasExited = false;
  #isStuck = false;
  #isLeaving = false;
  #canMove = () => false;
  /** Resolves closeWhenIdle()'s wait for the last session. */
  #onIdle: (() => void) | undefined;
  #onListening: (isListening: boolean) => void = () => {};
  #isListening = false;

  constructor(link: EngineLink, ready: ReadyProcess, options: EngineChildOptions) {
    this.engine = ready.engine;
    this.cpuPerSpeech = ready.cpuPerSpeech;
    this.#link = link;
    this.pid = link.pid;
    this.machine = options.machine;
    this.stuckMsMax = options.stuckMsMax;
    this.#reportMs = reportMsFor(options.stuckMsMax);
    this.#onLoad = options.onLoad;
    this.#model = options.model;
    this.#log = options.log;
    this.#writer = new FrameWriter(link.sink);
    this.#onAbsence = options.onAbsence;
    this.#numbersFrom = options.numbersFrom ?? 0;
    this.#absence = ready.absence;
    this.#watchdog = new Watchdog({
      pid: this.pid,
      stuckMsMax: options.stuckMsMax,
      ...(options.readSigns && { readSigns: options.readSigns }),
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
        this.#take(options.check ? this.#checked(frame, options.check) : frame);
      }
    };
    this.exited = link.ended.then(({ how, suspect, isOfProcess }) => {
      this.#hasExited = true;
      // Front processes watch it too, and one of them may have killed it.
      const wasSilent = this.#watchdog.silentMs >= options.stuckMsMax / 2;
      if (this.#isListening && wasSilent && how === "SIGKILL") this.#isStuck = true;
      this.#watchdog[Symbol.dispose]();
      const active = suspect ?? this.#activeSuspect;
      for (const session of this.#sessions.values()) {
        const wasActive = session.id === active;
        const isLost = isOfProcess || wasActive;
        session.end(isLost ? { kind: "lost", wasActive } : { kind: "moved" });
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
    return this.#link.isGarbled ? "garbled" : "crashed";
  }

  get sessions(): number {
    return this.#load.sessions;
  }

  /** Whether the process accepts no new sessions, because its node is being stopped. */
  get isLeaving(): boolean {
    return this.#isLeaving;
  }

  /**
   * Whether any session of the process has committed, also one of a front process. A process that
   * did useful work is restarted immediately.
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
    return this.#load.liveDemand;
  }

  /** The share of a core that the live sessions of the process need for full effort. */
  get fullDemand(): number {
    return this.#load.fullDemand;
  }

  /** The mean delay between the arrival of live audio and its processing. */
  get liveLateMs(): number {
    return this.#load.liveLateMs;
  }

  /** The seconds of audio that sessions of these modes have sent and that no commit covers. */
  uncommittedSeconds(modes: readonly RecognitionMode[]): number {
    return this.#load.uncommittedSeconds(modes);
  }

  /** What this service does with the process, for other clients of its node. */
  get ownUse(): UseByOthers {
    return this.#load.ownUse;
  }

  /**
   * Records what others do with the process: other clients of its node, or the front processes that
   * are connected to it.
   */
  set others(use: UseByOthers) {
    this.#load.others = use;
    this.#checkIdle();
  }

  /** Begins a session, or continues a session of another process. */
  open(client: SessionClient, payload: OpenSession): ChildSession {
    const { position } = payload.checkpoint ?? {};
    const session = new ChildSession(this.#nextId(), client, this.#writer, position);
    this.#sessions.set(session.id, session);
    const traceparent = currentTraceparent();
    const traced = traceparent === undefined ? payload : { ...payload, traceparent };
    this.#writer.writeJson("open", session.id, traced);
    return session;
  }

  /** Begins a session of a client of this engine node, with the payload of its open frame. */
  relay<S extends OpenedSession>(
    create: (id: number, writer: FrameWriter) => S,
    payload: Uint8Array,
  ): S {
    const session = create(this.#nextId(), this.#writer);
    this.#sessions.set(session.id, session);
    this.#writer.write("open", session.id, payload);
    return session;
  }

  #nextId(): number {
    this.#lastId = (this.#lastId % (sessionNumbers - 1)) + 1;
    return this.#numbersFrom + this.#lastId;
  }

  /**
   * Lets front processes connect to the process. Resolves to whether they can, once the process has
   * answered; to false if it has ended, or has not answered after `msMax`.
   */
  async listen(at: ListenAt, msMax = listenMsMax): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#onListening = (isListening) => resolve(isListening ? undefined : "it cannot listen");
    void this.exited.then(() => resolve("it has ended"));
    const timer = setTimeout(() => resolve(`it did not answer within ${msMax / 1000} s`), msMax);
    this.#writer.writeJson("listen", 0, at);
    const problem = await promise;
    clearTimeout(timer);
    this.#isListening = problem === undefined;
    if (problem !== undefined) {
      const fields = { pid: this.pid, model: this.#model, problem };
      this.#log.warn(fields, "engine.not_listening");
    }
    return this.#isListening;
  }

  /**
   * Accepts no more sessions. Each session moves to another process at its next commit, or at once
   * if a commit covers all of its input, as long as `canMove` returns true.
   */
  handOver(canMove: () => boolean): void {
    this.#isLeaving = true;
    this.#canMove = canMove;
    for (const session of this.#sessions.values()) {
      if (session.client.uncommittedSeconds === 0) this.#move(session);
    }
  }

  #move(session: OpenedSession): void {
    if (!this.#isLeaving || !this.#canMove() || session.isOver) return;
    if (this.#sessions.delete(session.id)) this.#writer.write("close", session.id);
    session.end({ kind: "moved" });
    this.#checkIdle();
  }

  /** Ends a session immediately. */
  leave(session: OpenedSession): void {
    if (this.#sessions.delete(session.id)) this.#writer.write("close", session.id);
    session.end({ kind: "done" });
    this.#checkIdle();
  }

  #checked(frame: Frame, check: NonNullable<EngineChildOptions["check"]>): Frame {
    const session = this.#sessions.get(frame.session);
    return check(frame, session instanceof ChildSession ? session : undefined);
  }

  #take(frame: Frame): void {
    if (frame.kind === "load") {
      this.#measure(jsonPayload("load", frame));
      return;
    }
    if (frame.kind === "working") {
      this.#activeSuspect = frame.session;
      this.observer?.working(frame.session);
      return;
    }
    if (frame.kind === "listening") {
      this.#onListening(jsonPayload("listening", frame));
      return;
    }
    if (frame.kind === "committed") this.#hasCommitted = true;
    if (frame.kind === "error") {
      const { absence } = jsonPayload("error", frame);
      if (absence) this.#setAbsence(absence);
    }
    const session = this.#sessions.get(frame.session);
    // Frames may still arrive for a session that has been left.
    if (session) this.#deliver(session, frame);
    if (session?.isOver) this.#sessions.delete(session.id);
    else if (session && frame.kind === "committed") this.#move(session);
    this.#checkIdle();
  }

  /** Gives a session a frame. A fault in what this process does with it ends that session only. */
  #deliver(session: OpenedSession, frame: Frame): void {
    try {
      session.take(frame);
    } catch (error) {
      if (error instanceof GarbledFrame) throw error;
      this.#log.error({ pid: this.pid, model: this.#model, ...errorFields(error) }, "engine.fault");
      this.#writer.write("close", session.id);
      session.end({ kind: "failed", error });
    }
  }

  #measure(report: LoadReport): void {
    this.#load.measure(report);
    // The commits of front processes are not seen here.
    if (report.hasCommitted) this.#hasCommitted = true;
    this.#onLoad(report);
    this.observer?.loaded(report);
    this.#setAbsence(report.absence);
  }

  #setAbsence(absence: EngineAbsence | undefined): void {
    const before = this.#absence;
    this.#absence = absence;
    if (before?.kind !== absence?.kind) this.#onAbsence?.(absence);
  }

  #checkIdle(): void {
    if (this.sessions === 0) this.#onIdle?.();
  }

  /**
   * Ends the process when its last session has ended. `reportedMsMax`: the time within which front
   * processes have reported theirs. Default: 10 s.
   */
  async closeWhenIdle(reportedMsMax = othersMsMax): Promise<void> {
    if (this.#isListening) await Promise.race([sleep(reportedMsMax), this.exited]);
    if (this.sessions > 0) {
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

/** The interval between two load reports of a process. */
export function reportMsFor(stuckMsMax: number): number {
  return Math.min(reportMsMax, Math.ceil(stuckMsMax / 5));
}
