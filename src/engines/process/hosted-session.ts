import type { Engine, FullWork, RecognitionMode } from "../protocol/engine.ts";
import type { FrameWriter, OpenSession } from "../protocol/engine-frames.ts";
import type { WordTime } from "../protocol/alignment.ts";
import { joinUtterances, type UtteranceOutputs } from "../protocol/kept-outputs.ts";
import type { Recognition } from "../protocol/recognizer.ts";
import type { Commit } from "../protocol/session-checkpoint.ts";
import { AlignmentSession } from "./alignment-session.ts";
import { EngineSession, type SessionOutput } from "./engine-session.ts";
import type { MeteredSession } from "./load-meter.ts";
import type { Task } from "./run-queue.ts";

/**
 * A live session whose processed audio is this far ahead of real time counts as a recording. A
 * replayed session may first catch up with the kept audio.
 */
const aheadSeconds = 2;
const suspectAheadSeconds = 40;

/** A session of an engine process: a task in the run queue that writes its reports as frames. */
export class HostedSession implements SessionOutput, Task, MeteredSession, SessionTarget {
  readonly id: number;
  readonly writer: FrameWriter;
  readonly mode: RecognitionMode;
  readonly session: EngineSession | AlignmentSession;
  /** Whether a crash would be attributed to this session; false after its first commit. */
  isSuspect: boolean;
  /** Whether the session has input to work on. */
  isBusy = false;
  /** The time of the session's slices on this thread. */
  busyMs = 0;
  readonly #host: SessionHost;
  readonly #countsFromMs: number;
  readonly #processedBefore: number;
  #threadMs = 0;
  /** Set while the session's work is on another thread. */
  #onThreadSinceMs: number | undefined;

  constructor(host: SessionHost, { id, writer }: SessionTarget, payload: OpenSession) {
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

/** The number of a session, and where its results are written. */
export interface SessionTarget {
  readonly id: number;
  readonly writer: FrameWriter;
}

/** What a session needs of the host that gives it turns (engine-host.ts). */
export interface SessionHost {
  readonly engine: Engine;
  /** Runs one slice of a session. Returns true if the next slice can follow immediately. */
  runSlice(hosted: HostedSession): boolean;
  /** Ends a session, even from within its own slice. */
  close(hosted: HostedSession): void;
  /** A session has committed a final result. */
  noteFinal(): void;
}
