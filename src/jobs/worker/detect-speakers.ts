import type { Recognizer, WindowSpeakers } from "../../engines/protocol/recognizer.ts";
import { joinSpeakers } from "../../engines/protocol/speakers.ts";
import { errorFields, type Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import type { SpeakerSpan } from "./assign-speakers.ts";
import { joinSamples } from "../../audio/join-samples.ts";
import type { Piece } from "./cut-pieces.ts";
import { LeaseLost } from "../../database/lease.ts";
import type { Span } from "./piece-segments.ts";

/**
 * The approximate length of a window, which ends with a piece. Speakers are first distinguished
 * within each window; then the windows are joined by their voices.
 */
const windowMs = 300_000;

/** The speakers of a window of a recording. */
export interface StoredWindow extends Span {
  readonly speakers: WindowSpeakers;
}

export interface SpeakerDetectorOptions {
  readonly recognizer: Pick<Recognizer, "diarize">;
  /** The maximum number of speakers. Default: any number. */
  readonly speakersMax?: number;
  /** The windows that earlier attempts kept, by index. */
  readonly known: ReadonlyMap<number, StoredWindow>;
  /** Called with each new window. The window counts once the promise resolves. */
  readonly keep: (index: number, window: StoredWindow) => Promise<void>;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * Detects the speakers of a recording, one window after the other, while its words are recognized.
 * A failure on the audio affects only the speakers, never the words: it is logged, and no speakers
 * are set. While no process can diarize, the words are recognized all the same, and then the job
 * has to wait. Disposing of the object stops the detection.
 */
export class SpeakerDetector implements Disposable {
  readonly #options: SpeakerDetectorOptions;
  readonly #ending = new AbortController();
  readonly #signal: AbortSignal;
  readonly #windows: StoredWindow[] = [];
  #held: Piece[] = [];
  #count = 0;
  #hasFailed = false;
  /** Why the job cannot end. */
  #stop: LeaseLost | ServiceError | undefined;
  #detecting = Promise.resolve();

  constructor(options: SpeakerDetectorOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#ending.signal]);
  }

  /**
   * Accepts the pieces of the recording in order. Waits while the previous window is being
   * diarized.
   */
  async take(piece: Piece): Promise<void> {
    this.#held.push(piece);
    const [first] = this.#held;
    if (first && piece.endMs - first.startMs >= windowMs) await this.#endWindow();
  }

  /**
   * Returns the speakers of the whole recording with their times; none after a failure. Throws
   * ServiceError with the code unavailable if no process could diarize a window.
   */
  async end(): Promise<readonly SpeakerSpan[]> {
    await this.#endWindow();
    await this.#detected();
    if (this.#stop) throw this.#stop;
    if (this.#hasFailed) return [];
    const windows = this.#windows.map(({ startMs, speakers: { turns, speakers } }) => ({
      startMs,
      turns,
      speakers: speakers.map((each) => ({
        ...each,
        embedding: Float32Array.from(each.embedding),
      })),
    }));
    const { speakersMax } = this.#options;
    const turns = joinSpeakers(windows, speakersMax === undefined ? {} : { speakersMax });
    return turns.map(({ speaker: speakerId, ...span }) => ({ speakerId, ...span }));
  }

  async #endWindow(): Promise<void> {
    const pieces = this.#held;
    const [first, last] = [pieces.at(0), pieces.at(-1)];
    if (!first || !last) return;
    this.#held = [];
    const index = this.#count++;
    await this.#detected();
    const span = { startMs: first.startMs, endMs: last.endMs };
    this.#detecting = this.#detect(index, span, pieces).catch((error: unknown) => {
      this.#hasFailed = true;
      if (error instanceof LeaseLost) this.#stop = error;
      else if (this.#signal.aborted) return;
      else if (error instanceof ServiceError && error.code === "unavailable") this.#stop = error;
      else {
        this.#options.log.warn(errorFields(error), "job.speakers_failed");
      }
    });
  }

  /**
   * Waits for the previous window. Throws if the window could not be kept because the lease was
   * lost.
   */
  async #detected(): Promise<void> {
    await this.#detecting;
    if (this.#stop instanceof LeaseLost) throw this.#stop;
  }

  async #detect(index: number, span: Span, pieces: readonly Piece[]): Promise<void> {
    if (this.#hasFailed) return;
    const { recognizer, known, keep } = this.#options;
    const kept = known.get(index);
    if (kept?.startMs === span.startMs && kept.endMs === span.endMs) {
      this.#windows[index] = kept;
      return;
    }
    const window = {
      ...span,
      speakers: await recognizer.diarize(
        joinSamples(pieces.map(({ samples }) => samples)),
        this.#signal,
      ),
    };
    await keep(index, window);
    this.#windows[index] = window;
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the speakers are not needed"));
  }
}
