import type { RecognitionMode } from "../protocol/engine.ts";
import type { OnlineRecognizer, OnlineStream, SherpaLibrary } from "./sherpa-library.ts";

/**
 * The maximum number of streams in one call. More would not save time, and would block the thread
 * for longer.
 */
const streamsMax = 16;
/** The order of modes if there are more streams than fit into one call. */
const rankOf: Readonly<Record<RecognitionMode, number>> = { live: 0, short: 1, job: 2 };

interface Waiting {
  readonly rank: number;
  readonly decoded: PromiseWithResolvers<void>;
}

/**
 * Decodes the streams of a process together, one step of each at a time. The steps of one turn of
 * the event loop are decoded in one library call, which takes much less time than a call for each.
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

  /** Returns whether a step of the stream waits to be decoded. */
  has(stream: OnlineStream): boolean {
    return this.#waiting.has(stream);
  }

  /**
   * Decodes a step of this stream, which must be ready. Resolves when it has been decoded; a second
   * call before then returns the same promise.
   */
  decode(stream: OnlineStream, mode: RecognitionMode): Promise<void> {
    const known = this.#waiting.get(stream);
    if (known) return known.decoded.promise;
    const decoded = Promise.withResolvers<void>();
    this.#waiting.set(stream, { rank: rankOf[mode], decoded });
    this.#scheduleTurn();
    return decoded.promise;
  }

  /** Removes a stream that has ended, and drops its waiting step. */
  remove(stream: OnlineStream): void {
    const waiting = this.#waiting.get(stream);
    this.#waiting.delete(stream);
    waiting?.decoded.resolve();
  }

  #scheduleTurn(): void {
    if (this.#isTurnDue || this.#waiting.size === 0) return;
    this.#isTurnDue = true;
    setImmediate(() => {
      this.#isTurnDue = false;
      this.#decodeNext();
      this.#scheduleTurn();
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
