import type { Engine, FullWork, RecognitionMode } from "../protocol/engine.ts";
import {
  type Frame,
  type FrameWriter,
  jsonPayload,
  type OpenSession,
  type ReadyProcess,
  samplesOfBytes,
} from "../protocol/engine-frames.ts";
import { EngineUnavailable } from "../protocol/engine-absence.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { readOwnSigns } from "../protocol/process-signs.ts";
import type { WordTime } from "../protocol/alignment.ts";
import { joinUtterances, type UtteranceOutputs } from "../protocol/kept-outputs.ts";
import { endUtterance, type Recognition } from "../protocol/recognizer.ts";
import type { Commit } from "../protocol/session-checkpoint.ts";
import { AlignmentSession } from "./alignment-session.ts";
import { EngineSession, type SessionOutput } from "./engine-session.ts";
import { LoadMeter, type MeteredSession } from "./load-meter.ts";
import { engineCpuMs } from "./measure-speech.ts";
import { PendingWork } from "./pending-work.ts";
import type { ProcessHost } from "./process-host.ts";
import { RunQueue, type Task } from "./run-queue.ts";
import { SharedHints } from "./shared-hints.ts";
import { openTurnLength } from "./turn-length.ts";

/**
 * A live session whose processed audio is this far ahead of real time counts as a recording. A
 * replayed session may first catch up with the kept audio.
 */
const aheadSeconds = 2;
const suspectAheadSeconds = 40;

/**
 * The sessions of an engine process: reads their frames, gives them turns, and writes their
 * results.
 */
export class EngineHost implements ProcessHost {
  readonly ready: ReadyProcess;
  readonly engine: Engine;
  readonly writer: FrameWriter;
  readonly #queue = new RunQueue();
  readonly #sessions = new Map<number, HostedSession>();
  readonly #hints = new SharedHints();
  readonly #meter: LoadMeter;
  /** The CPU time of all threads, used to detect decoding on another thread that has stalled. */
  readonly #threadWork = new PendingWork(readOwnSigns);
  readonly #setLongTurns: (isLong: boolean) => void;
  /**
   * Sessions that are suspected of crashing the process run one at a time, so that a crash
   * identifies its cause.
   */
  #activeSuspect: { readonly id: number; readonly over: PromiseWithResolvers<void> } | undefined;

  #hasCommitted = false;

  constructor(
    engine: Engine,
    { cpuPerSpeech, writer }: { readonly cpuPerSpeech: number; readonly writer: FrameWriter },
  ) {
    const { name, languageCodes, takesHints, fullEffort } = engine;
    const alignsWords = engine.align !== undefined;
    const outputs = engine.outputs && { outputsModel: engine.outputs.model };
    const efforts = fullEffort !== undefined && { fullEffort };
    const server = engine.server && { sessionsMax: engine.server.sessionsMax };
    const own = { name, languageCodes, takesHints, alignsWords };
    const absence = engine.server?.absence();
    const description = { ...own, ...efforts, ...outputs, ...server };
    this.ready = { engine: description, cpuPerSpeech, ...(absence && { absence }) };
    this.engine = engine;
    this.writer = writer;
    // An engine with threads decodes on those, so the scheduling slices of this thread do not
    // matter.
    this.#setLongTurns = engine.usesThreads ? () => {} : openTurnLength();
    this.#meter = new LoadMeter({
      nowMs: () => performance.now(),
      cpuMs: () => engineCpuMs(engine),
    });
  }

  receive(frame: Frame, writer: FrameWriter = this.writer): void {
    const { kind, session: id, payload } = frame;
    if (kind === "open") {
      this.#guard({ id, writer }, () => this.#open(id, jsonPayload("open", frame), writer));
      return;
    }
    const hosted = this.#sessions.get(id);
    // Frames may still arrive for a session that has just failed.
    if (hosted?.writer !== writer) return;
    if (kind === "close") {
      this.close(hosted);
      return;
    }
    if (kind === "audio") hosted.session.push(samplesOfBytes(payload));
    else if (kind === "outputs") hosted.takeOutputs(payload);
    else if (kind === "endUtterance") hosted.session.push(endUtterance);
    else if (kind === "effort") hosted.session.push(jsonPayload("effort", frame));
    else if (kind === "endInput") hosted.session.endInput();
    this.#wake(hosted);
  }

  report(): LoadReport | undefined {
    const measured = this.#meter.report(this.#queue.takeLiveWaits());
    const report = { ...measured, ...(this.#hasCommitted && { hasCommitted: true }) };
    const absence = this.engine.server?.absence();
    if (this.#threadWork.isHung()) return undefined;
    return absence ? { ...report, absence } : report;
  }

  leave(writer: FrameWriter): void {
    for (const hosted of this.#sessions.values()) {
      if (hosted.writer === writer) this.close(hosted);
    }
  }

  #open(id: number, sent: OpenSession, writer: FrameWriter): void {
    const before = this.#sessions.get(id);
    if (before) this.#fail(before, new Error("another session has its number"));
    const { hints } = sent.options;
    const options = { ...sent.options, ...(hints && { hints: this.#hints.share(hints) }) };
    const hosted = new HostedSession(this, { id, writer }, { ...sent, options });
    this.#sessions.set(id, hosted);
    this.#meter.add(hosted);
    this.#chooseTurns();
  }

  /**
   * Requests long scheduling slices while all sessions are jobs, since then nothing waits for the
   * end of a slice.
   */
  #chooseTurns(): void {
    const { size } = this.#sessions;
    this.#setLongTurns(size > 0 && this.#sessions.values().every(({ mode }) => mode === "job"));
  }

  /** Runs one slice of a session. Returns true if the next slice can follow immediately. */
  runSlice(hosted: HostedSession): boolean {
    const { id, isSuspect } = hosted;
    if (isSuspect && this.#activeSuspect && this.#activeSuspect.id !== id) {
      this.#wakeAfter(this.#activeSuspect.over.promise, hosted);
      return false;
    }
    if (isSuspect) this.#takeSuspect(hosted);
    let next: boolean | Promise<void> = false;
    this.#guard(hosted, () => {
      next = hosted.session.step();
    });
    return this.#continue(hosted, next);
  }

  #takeSuspect({ id, writer }: Target): void {
    this.#activeSuspect ??= { id, over: Promise.withResolvers() };
    writer.writeNow("working", id);
  }

  #releaseSuspect({ id, writer }: Target): void {
    if (this.#activeSuspect?.id !== id) return;
    writer.writeNow("working", 0);
    this.#activeSuspect.over.resolve();
    this.#activeSuspect = undefined;
  }

  #continue(hosted: HostedSession, next: boolean | Promise<void>): boolean {
    const isOpen = this.#isOpen(hosted);
    if (typeof next === "boolean" || !isOpen) {
      this.#releaseSuspect(hosted);
      return next === true && isOpen;
    }
    this.#threadWork.add(next);
    hosted.beginThreadWork();
    const end = () => {
      hosted.endThreadWork();
      this.#releaseSuspect(hosted);
    };
    next.then(end, end);
    this.#wakeAfter(next, hosted);
    return false;
  }

  #wakeAfter(work: Promise<void>, hosted: HostedSession): void {
    work.then(
      () => {
        if (this.#isOpen(hosted)) this.#wake(hosted);
      },
      (error: unknown) => this.#fail(hosted, error),
    );
  }

  #isOpen(hosted: HostedSession): boolean {
    return this.#sessions.get(hosted.id) === hosted;
  }

  #wake(hosted: HostedSession): void {
    this.#queue.wake(hosted.mode, hosted);
  }

  /** Ends a session, even from within its own slice. */
  close(hosted: HostedSession): void {
    if (!this.#isOpen(hosted)) return;
    this.#sessions.delete(hosted.id);
    this.#queue.remove(hosted);
    this.#meter.remove(hosted);
    this.#chooseTurns();
    this.#releaseSuspect(hosted);
    setImmediate(() => hosted.session.close());
  }

  /** A session has committed a final result. */
  noteFinal(): void {
    this.#hasCommitted = true;
  }

  /** Runs the work of a session. An error in it ends that session only. */
  #guard(target: Target, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(target, error);
    }
  }

  #fail({ id, writer }: Target, error: unknown): void {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    const absence = error instanceof EngineUnavailable ? { absence: error.absence } : undefined;
    writer.writeJson("error", id, { message, stack, ...absence });
    const hosted = this.#sessions.get(id);
    // The number may now be that of a session of another connection.
    if (hosted?.writer === writer) this.close(hosted);
  }
}

/** A session, and where its results are written. */
interface Target {
  readonly id: number;
  readonly writer: FrameWriter;
}

/** A session of an engine process: a task in the run queue that writes its reports as frames. */
class HostedSession implements SessionOutput, Task, MeteredSession, Target {
  readonly id: number;
  readonly writer: FrameWriter;
  readonly mode: RecognitionMode;
  readonly session: EngineSession | AlignmentSession;
  /** Whether a crash would be attributed to this session; false after its first commit. */
  isSuspect: boolean;
  /** The time of the session's slices on this thread. */
  busyMs = 0;
  readonly #host: EngineHost;
  readonly #countsFromMs: number;
  readonly #processedBefore: number;
  #threadMs = 0;
  /** Set while the session's work is on another thread. */
  #onThreadSinceMs: number | undefined;

  constructor(host: EngineHost, { id, writer }: Target, payload: OpenSession) {
    const { options, words, outputsMs, checkpoint, isSuspect } = payload;
    this.id = id;
    this.writer = writer;
    this.mode = options.mode;
    this.isSuspect = isSuspect;
    this.#host = host;
    this.session = words
      ? new AlignmentSession(
          host.engine,
          { words, ...(outputsMs !== undefined && { outputsMs }) },
          this,
        )
      : new EngineSession(host.engine, options, this, checkpoint);
    const allowedSeconds = isSuspect ? suspectAheadSeconds : aheadSeconds;
    this.#countsFromMs = performance.now() - 1000 * allowedSeconds;
    this.#processedBefore = this.session.processedSeconds;
  }

  step(): boolean {
    return this.#host.runSlice(this);
  }

  /**
   * Returns the mode that determines the session's turns. Audio that is processed faster than real
   * time is a recording, and takes turns with recordings.
   */
  rank(): RecognitionMode {
    const processedMs = (this.session.processedSeconds - this.#processedBefore) * 1000;
    const isAhead = processedMs > performance.now() - this.#countsFromMs;
    return this.mode === "live" && isAhead ? "short" : this.mode;
  }

  beginThreadWork(): void {
    this.#onThreadSinceMs ??= performance.now();
  }

  endThreadWork(): void {
    if (this.#onThreadSinceMs === undefined) return;
    this.#threadMs += performance.now() - this.#onThreadSinceMs;
    this.#onThreadSinceMs = undefined;
  }

  get workMs(): number {
    const since = this.#onThreadSinceMs;
    return this.busyMs + this.#threadMs + (since === undefined ? 0 : performance.now() - since);
  }

  get processedSeconds(): number {
    return this.session.processedSeconds;
  }

  get spokenSeconds(): number {
    return this.session.spokenSeconds;
  }

  get fullWork(): FullWork {
    return this.session.fullWork;
  }

  takeLeastQueuedSeconds(): number {
    return this.session.takeLeastQueuedSeconds();
  }

  interim(recognition: Recognition): void {
    this.writer.writeJson("interim", this.id, recognition);
  }

  outputs(utterance: UtteranceOutputs): void {
    this.writer.write("outputs", this.id, joinUtterances([utterance]));
  }

  /** Takes the outputs of a window whose words are aligned. */
  takeOutputs(bytes: Uint8Array): void {
    if (this.session instanceof AlignmentSession) this.session.pushOutputs(bytes);
  }

  speechEvent(event: Recognition): void {
    this.writer.writeJson("speechEvent", this.id, event);
  }

  committed(commit: Commit): void {
    this.isSuspect = false;
    if (commit.final) this.#host.noteFinal();
    this.writer.writeJson("committed", this.id, commit);
  }

  received(samples: number): void {
    this.writer.writeJson("received", this.id, samples);
  }

  progress(samples: number): void {
    this.writer.writeJson("progress", this.id, samples);
  }

  aligned(words: readonly WordTime[]): void {
    this.writer.writeJson("aligned", this.id, words);
  }

  done(): void {
    this.writer.write("done", this.id);
    this.#host.close(this);
  }
}
