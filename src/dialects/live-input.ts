import { create } from "@bufbuild/protobuf";
import {
  StreamingRecognizeRequestSchema,
  type StreamingRecognizeRequest,
} from "../gen/hlust/speech/v2beta1/speech_pb.ts";

/** Ends the utterance at this place of the audio, like finalizeUtterance. */
export const finalize = Symbol("finalize");
/** What a client sends in a live session: audio of any length, or a mark. */
export type LiveInput = Uint8Array | typeof finalize;

export interface LiveInputOptions {
  /**
   * The bytes of a sample of all channels; undefined for audio whose streams cannot be continued by
   * another one.
   */
  readonly frameBytes: number | undefined;
  /** A stream without audio for this long ends, and another one begins with the next audio. */
  readonly pauseMs: number;
  /** The age at which a stream is replaced by another one. */
  readonly renewMs: number;
}

type Request = IteratorResult<StreamingRecognizeRequest, undefined>;
const done = { done: true, value: undefined } as const;
/** How much older than renewMs a stream may become, so that it ends between two utterances. */
const overtimeMsMax = 60_000;

/**
 * The input of a live session as the messages of one stream after the other. Nothing is lost
 * between two streams: an item that the ended stream did not take goes to the next one. This is not
 * a generator, for the reason that AudioInput is none.
 */
export class LiveMessages implements AsyncIterator<StreamingRecognizeRequest, undefined> {
  readonly #inputs: AsyncIterator<LiveInput, undefined>;
  readonly #options: LiveInputOptions;
  /** The item that is read and not yet taken. */
  #pending: Promise<IteratorResult<LiveInput, undefined>> | undefined;
  #waiting: ((request: Request) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #begunAt = 0;
  #marks = 0;
  /** Whether the current stream has taken an item. */
  #hasTaken = false;
  /** Whether an utterance is in progress. */
  isSpeaking = false;

  constructor(inputs: AsyncIterator<LiveInput, undefined>, options: LiveInputOptions) {
    this.#inputs = inputs;
    this.#options = options;
  }

  /** Returns the next item, which stays the next one. */
  async peek(): Promise<IteratorResult<LiveInput, undefined>> {
    this.#pending ??= this.#inputs.next();
    return await this.#pending;
  }

  /** Takes the item that peek() returned. */
  take(): void {
    this.#pending = undefined;
  }

  /** Begins a stream. Disposing of the result ends it. */
  begin(): Disposable {
    this.#begunAt = performance.now();
    this.isSpeaking = false;
    this.#hasTaken = false;
    const { pauseMs, frameBytes } = this.#options;
    if (frameBytes !== undefined) this.#timer = setTimeout(() => this.#pause(), pauseMs);
    return { [Symbol.dispose]: () => clearTimeout(this.#timer) };
  }

  /** Counts a mark of this stream that has taken effect. Returns false if there is none left. */
  takeMark(): boolean {
    if (this.#marks === 0) return false;
    this.#marks -= 1;
    return true;
  }

  next(): Promise<Request> {
    if (this.#isDue()) return Promise.resolve(done);
    const pending = (this.#pending ??= this.#inputs.next());
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      pending.then(
        (item) => {
          // The stream ended in the meantime: the next one takes the item.
          if (this.#waiting !== resolve) return;
          this.#waiting = undefined;
          resolve(this.#request(item));
        },
        (error: unknown) => {
          this.#waiting = undefined;
          reject(error);
        },
      );
    });
  }

  #request({ value }: IteratorResult<LiveInput, undefined>): Request {
    if (value === undefined) return done;
    this.#pending = undefined;
    this.#hasTaken = true;
    this.#timer?.refresh();
    if (value === finalize) this.#marks += 1;
    else this.#bytes += value.length;
    return { done: false, value: requestOf(value) };
  }

  /** Whether the stream ends here: at a whole sample, and between utterances if that is soon. */
  #isDue(): boolean {
    const { renewMs } = this.#options;
    if (!this.#hasTaken || !this.#canEnd()) return false;
    const ageMs = performance.now() - this.#begunAt;
    return ageMs >= (this.isSpeaking ? renewMs + overtimeMsMax : renewMs);
  }

  #canEnd(): boolean {
    const { frameBytes } = this.#options;
    return frameBytes !== undefined && this.#bytes % frameBytes === 0;
  }

  #pause(): void {
    if (!this.#waiting || !this.#canEnd()) {
      this.#timer?.refresh();
      return;
    }
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve(done);
  }
}

function requestOf(value: Exclude<LiveInput, undefined>): StreamingRecognizeRequest {
  const streamingRequest =
    value === finalize
      ? ({ case: "finalizeUtterance", value: true } as const)
      : ({ case: "audioContent", value } as const);
  return create(StreamingRecognizeRequestSchema, { streamingRequest });
}
