import { setTimeout as sleep } from "node:timers/promises";
import { errorFields, type Log } from "../../std/log.ts";
import { ChildLoad, type UseByOthers } from "./child-load.ts";
import { ChildSession } from "./child-session.ts";
import { ChildSessions } from "./child-sessions.ts";
import type { EngineLink } from "./engine-link.ts";
import { type EngineChildOptions, reportMsFor } from "./engine-child-options.ts";
import { FrontAccess } from "./front-access.ts";
import type { Machine } from "./machine.ts";
import type { RecognitionMode } from "../protocol/engine.ts";
import {
  type EngineDescription,
  type Frame,
  type FrameKind,
  FrameWriter,
  jsonPayload,
  type ListenAt,
  type OpenSession,
  type ReadyProcess,
} from "../protocol/engine-frames.ts";
import type { EngineAbsence } from "../protocol/engine-absence.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import type { EngineExit } from "../../metrics/recorders.ts";
import type { OpenedSession } from "./opened-session.ts";
import type { SessionClient } from "./session-client.ts";
import { IgnoredSessions } from "./ignored-sessions.ts";
import { Watchdog } from "./watchdog.ts";

/** A process that has not ended this long after the end of its standard input is killed. */
const closeMsMax = 2000;
/** The frames with results of sessions: of a recognition, an alignment, and a diarization. */
const resultKinds: ReadonlySet<FrameKind> = new Set(["committed", "aligned", "speakers"]);
/** The errors of sessions without a result after which a process is failing, for a minute. */
const errorsMax = 3;
const failingMs = 60_000;
/** The same for sessions for which it did nothing: each costs a minute until that is noticed. */
const ignoredMs = 600_000;
/** The time within which front processes have reported the sessions that they have. */
const othersMsMax = 10_000;

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
  readonly #log: Log;
  /** What the log has of the process. */
  readonly #names: Readonly<Record<string, unknown>>;
  readonly #watchdog: Watchdog;
  readonly #fronts: FrontAccess;
  readonly #sessions: ChildSessions;
  readonly #load: ChildLoad;
  readonly #ignored = new IgnoredSessions();
  /** The suspect session on which the process is working; 0: none. */
  #activeSuspect = 0;
  #hasCommitted = false;
  /** The sessions that ended with an error since the last result, and how long that counts. */
  #errors = 0;
  #failingUntilMs = 0;
  #absence: EngineAbsence | undefined;
  #hasExited = false;
  #isStuck = false;
  /** Resolves closeWhenIdle()'s wait for the last session. */
  #onIdle: (() => void) | undefined;

  constructor(link: EngineLink, ready: ReadyProcess, options: EngineChildOptions) {
    const { pid } = link;
    const { model, node, log } = options;
    this.#names = { pid, model, ...(node !== undefined && { node }) };
    this.engine = ready.engine;
    this.cpuPerSpeech = ready.cpuPerSpeech;
    this.#link = link;
    this.pid = pid;
    this.machine = options.machine;
    this.stuckMsMax = options.stuckMsMax;
    this.#reportMs = reportMsFor(options.stuckMsMax);
    this.#onLoad = options.onLoad;
    this.#log = log;
    const writer = new FrameWriter(link.sink);
    this.#fronts = new FrontAccess(writer);
    this.#sessions = new ChildSessions({
      writer,
      numbersFrom: options.numbersFrom ?? 0,
      onChange: () => this.#checkIdle(),
      onFault: (error) => log.error({ ...this.#names, ...errorFields(error) }, "engine.fault"),
    });
    this.#load = new ChildLoad(this.#sessions.byNumber);
    this.#onAbsence = options.onAbsence;
    this.#absence = ready.absence;
    this.#watchdog = new Watchdog({
      pid,
      stuckMsMax: options.stuckMsMax,
      ...(options.readSigns && { readSigns: options.readSigns }),
      hasWork: () => this.#sessions.haveWork,
      onStuck: () => {
        log.warn(this.#names, "engine.stuck");
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
      if (this.#fronts.isOpen && wasSilent && how === "SIGKILL") this.#isStuck = true;
      this.#watchdog[Symbol.dispose]();
      this.#sessions.end({ active: suspect ?? this.#activeSuspect, isOfProcess });
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
    return this.#sessions.isLeaving;
  }

  /**
   * Whether any session of the process has committed, also one of a front process. A process that
   * did useful work is restarted immediately.
   */
  get hasCommitted(): boolean {
    return this.#hasCommitted;
  }

  /**
   * Whether the process has reported recently, and answers its sessions; if not, it is busy with a
   * long task, or ignores them.
   */
  get isResponsive(): boolean {
    return this.#watchdog.silentMs < 2 * this.#reportMs && !this.#ignored.isAnyQuiet;
  }

  /**
   * Whether the latest sessions of the process all ended with an error, as with a graphics card
   * that has no memory left. It is tried again when there is no other, and after a minute.
   */
  get isFailing(): boolean {
    return this.#errors >= errorsMax && performance.now() < this.#failingUntilMs;
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
    return this.#sessions.open(client, payload);
  }

  /** Begins a session of a client of this engine node, with the payload of its open frame. */
  relay<S extends OpenedSession>(
    create: (id: number, writer: FrameWriter) => S,
    payload: Uint8Array,
  ): S {
    return this.#sessions.relay(create, payload);
  }

  /** Ends a session immediately. */
  leave(session: OpenedSession): void {
    this.#sessions.leave(session);
  }

  /**
   * Lets front processes connect to the process. Resolves to whether they can, once the process has
   * answered; to false if it has ended, or has not answered after `msMax`.
   */
  async listen(at: ListenAt, msMax?: number): Promise<boolean> {
    const { exited } = this;
    const problem = await this.#fronts.open(at, { exited, ...(msMax !== undefined && { msMax }) });
    if (problem === undefined) return true;
    this.#log.warn({ ...this.#names, problem }, "engine.not_listening");
    return false;
  }

  /**
   * Accepts no more sessions. Each session moves to another process at its next commit, or at once
   * if a commit covers all of its input, as long as `canMove` returns true.
   */
  handOver(canMove: () => boolean): void {
    this.#sessions.handOver(canMove);
  }

  #checked(frame: Frame, check: NonNullable<EngineChildOptions["check"]>): Frame {
    const session = this.#sessions.byNumber.get(frame.session);
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
      this.#fronts.answered(jsonPayload("listening", frame));
      return;
    }
    if (frame.kind === "committed") this.#hasCommitted = true;
    if (resultKinds.has(frame.kind)) this.#errors = 0;
    if (frame.kind === "error") {
      const { absence, answer } = jsonPayload("error", frame);
      if (absence) this.#setAbsence(absence);
      // A server that answers some audio with an error recognizes other audio.
      else if (answer === undefined) this.#countError(failingMs);
    }
    this.#sessions.take(frame);
  }

  #countError(msMax: number): void {
    this.#errors += 1;
    this.#failingUntilMs = performance.now() + msMax;
    if (this.#errors !== errorsMax) return;
    this.#log.warn({ ...this.#names, errors: this.#errors }, "engine.failing");
  }

  #measure(report: LoadReport): void {
    this.#load.measure(report);
    for (const session of this.#ignored.take(report, this.#sessions.byNumber.values())) {
      this.#countError(ignoredMs);
      this.#log.warn(this.#names, "engine.session_ignored");
      this.#sessions.leave(session, { kind: "ignored" });
    }
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
    if (this.#fronts.isOpen) await this.#waitForReports(reportedMsMax);
    if (this.sessions > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#onIdle = resolve;
      await Promise.race([promise, this.exited]);
    }
    await this.close();
  }

  async #waitForReports(msMax: number): Promise<void> {
    const over = new AbortController();
    const wait = sleep(msMax, undefined, { signal: over.signal }).catch(() => {});
    await Promise.race([wait, this.exited]);
    over.abort();
  }

  /** Ends the process, and its sessions are lost. */
  async close(): Promise<void> {
    this.#link.end();
    const timer = setTimeout(() => this.#link.kill(), closeMsMax);
    await this.exited;
    clearTimeout(timer);
  }
}
