import type { Engine } from "../protocol/engine.ts";
import {
  type Frame,
  type FrameWriter,
  jsonPayload,
  type OpenSession,
  type ReadyProcess,
  samplesOfBytes,
} from "../protocol/engine-frames.ts";
import { AudioFailed } from "../protocol/audio-failed.ts";
import { EngineUnavailable } from "../protocol/engine-absence.ts";
import type { LoadReport } from "../protocol/load-report.ts";
import { readOwnSigns } from "../protocol/process-signs.ts";
import { endUtterance } from "../protocol/recognizer.ts";
import { HostedSession, type SessionHost, type SessionTarget } from "./hosted-session.ts";
import { LoadMeter } from "./load-meter.ts";
import { engineCpuMs } from "./measure-speech.ts";
import { PendingWork } from "./pending-work.ts";
import type { ProcessHost } from "./process-host.ts";
import { RunQueue } from "./run-queue.ts";
import { SharedHints } from "./shared-hints.ts";
import { openTurnLength } from "./turn-length.ts";

/**
 * The sessions of an engine process: reads their frames, gives them turns, and writes their
 * results.
 */
export class EngineHost implements ProcessHost, SessionHost {
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
    const busy = Array.from(
      this.#sessions.values().filter(({ isBusy }) => isBusy),
      ({ id }) => id,
    );
    const report = { ...measured, busy, ...(this.#hasCommitted && { hasCommitted: true }) };
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

  #takeSuspect({ id, writer }: SessionTarget): void {
    this.#activeSuspect ??= { id, over: Promise.withResolvers() };
    writer.writeNow("working", id);
  }

  #releaseSuspect({ id, writer }: SessionTarget): void {
    if (this.#activeSuspect?.id !== id) return;
    writer.writeNow("working", 0);
    this.#activeSuspect.over.resolve();
    this.#activeSuspect = undefined;
  }

  #continue(hosted: HostedSession, next: boolean | Promise<void>): boolean {
    const isOpen = this.#isOpen(hosted);
    if (typeof next === "boolean" || !isOpen) {
      this.#releaseSuspect(hosted);
      if (next === false) hosted.isBusy = false;
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
    hosted.isBusy = true;
    this.#queue.wake(hosted.mode, hosted);
  }

  close(hosted: HostedSession): void {
    if (!this.#isOpen(hosted)) return;
    this.#sessions.delete(hosted.id);
    this.#queue.remove(hosted);
    this.#meter.remove(hosted);
    this.#chooseTurns();
    this.#releaseSuspect(hosted);
    setImmediate(() => hosted.session.close());
  }

  noteFinal(): void {
    this.#hasCommitted = true;
  }

  /** Runs the work of a session. An error in it ends that session only. */
  #guard(target: SessionTarget, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(target, error);
    }
  }

  #fail({ id, writer }: SessionTarget, error: unknown): void {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    const absence = error instanceof EngineUnavailable ? { absence: error.absence } : undefined;
    const answer = error instanceof AudioFailed ? { answer: error.answer } : undefined;
    writer.writeJson("error", id, { message, stack, ...absence, ...answer });
    const hosted = this.#sessions.get(id);
    // The number may now be that of a session of another connection.
    if (hosted?.writer === writer) this.close(hosted);
  }
}
