import type { RecognitionMode } from "../protocol/engine.ts";
import type { OnlineRecognizer, OnlineStream, SherpaLibrary } from "./sherpa-library.ts";

/** Streams decoded in one go: more take no less time each, and hold the process for longer. */
const streamsMax = 16;
/** Who goes first where there are more. */
const rankOf: Readonly<Record<RecognitionMode, number>> = { live: 0, short: 1, job: 2 };

interface Waiting {
  readonly rank: number;
  readonly decoded: PromiseWithResolvers<void>;
}

/**
 * Decodes the streams of a process together, a step of each at a time: what is asked for within a
 * turn of the event loop is one call of the library, which takes much less than one call each.
 */
export class StreamBatch {
  readonly #library: SherpaLibrary;
  readonly #recognizer: OnlineRecognizer;
  readonly #waiting = new Map<OnlineStream, Waiting>();
  #isTurnDue = false;

  constructor(library: SherpaLibrary, recognizer: OnlineRecognizer) {
    this.#library = library;
    this.#recognizer = recognizer;
  }

  /** Whether a step of it is yet to be decoded. */
  has(stream: OnlineStream): boolean {
    return this.#waiting.has(stream);
  }

  /**
   * Resolves when a step of this stream, which must be ready, has been decoded; asked twice before,
   * it is one step.
   */
  decode(stream: OnlineStream, mode: RecognitionMode): Promise<void> {
    const known = this.#waiting.get(stream);
    if (known) return known.decoded.promise;
    const decoded = Promise.withResolvers<void>();
    this.#waiting.set(stream, { rank: rankOf[mode], decoded });
    this.#planTurn();
    return decoded.promise;
  }

  /** The stream is over: nothing more of it is decoded. */
  remove(stream: OnlineStream): void {
    const waiting = this.#waiting.get(stream);
    this.#waiting.delete(stream);
    waiting?.decoded.resolve();
  }

  #planTurn(): void {
    if (this.#isTurnDue || this.#waiting.size === 0) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#decodeNext();
      this.#planTurn();
    });
  }

  #decodeNext(): void {
    const next = Array.from(this.#waiting)
      .toSorted(([, one], [, other]) => one.rank - other.rank)
      .slice(0, streamsMax);
    for (const [stream] of next) this.#waiting.delete(stream);
    const streams = next.map(([stream]) => stream);
    try {
      if (streams.length > 0) {
        this.#library.decodeMultipleOnlineStreams(this.#recognizer, streams);
      }
      for (const [, { decoded }] of next) decoded.resolve();
    } catch (error) {
      for (const [, { decoded }] of next) decoded.reject(error);
    }
  }
}
