import { endUtterance } from "../engines/protocol/recognizer.ts";
import type { StreamingRecognizeRequest } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Deadline } from "./deadline.ts";
import type { ServiceError } from "../std/service-error.ts";
import { unexpectedMessage } from "./unexpected-message.ts";

type Result<Chunk> = IteratorResult<Chunk | typeof endUtterance, undefined>;
type Resolve<Chunk> = (result: Result<Chunk>) => void;

const done = { done: true, value: undefined } as const;
const noAudio = (seconds: number): string =>
  `no audio was received for ${seconds} s: send an empty audioContent to finalize`;

export interface AudioInputOptions<Chunk> {
  /** The maximum time that the stream may be without audio. */
  readonly idleMsMax: number;
  /** Returns the input in the bytes of a message. Throws ServiceError for invalid audio. */
  readonly read: (bytes: Uint8Array) => Chunk;
  /** Counts a chunk. Returns the reason if no audio is accepted after it. */
  readonly meter: (chunk: Chunk) => ServiceError | undefined;
}

/**
 * The audio and flush markers of the messages after the configuration. The input ends at an empty
 * audioContent. When a deadline passes, the input ends with a refusal, so that the audio so far
 * gets its final results. Throws invalid_argument for any other message. This is not a generator:
 * every chunk of every stream passes through here, and the three promises of a generator cost more
 * than all other work on a chunk.
 */
export class AudioInput<Chunk> implements AsyncIterableIterator<
  Chunk | typeof endUtterance,
  undefined
> {
  readonly #messages: AsyncIterator<StreamingRecognizeRequest>;
  readonly #deadline: Deadline;
  readonly #options: AudioInputOptions<Chunk>;
  #first: Result<Chunk> | undefined;
  #isOver = false;
  #refusal: ServiceError | undefined;

  constructor(
    messages: AsyncIterator<StreamingRecognizeRequest>,
    deadline: Deadline,
    options: AudioInputOptions<Chunk>,
  ) {
    this.#messages = messages;
    this.#deadline = deadline;
    this.#options = options;
  }

  /** The reason why the input ended, if the client did not end it. */
  get refusal(): ServiceError | undefined {
    return this.#refusal;
  }

  /** Returns whether there is any input. Waits for the first item, which next() returns. */
  async begins(): Promise<boolean> {
    this.#first = await this.next();
    return this.#first.done !== true;
  }

  next(): Promise<Result<Chunk>> {
    const first = this.#first;
    if (first) {
      this.#first = undefined;
      return Promise.resolve(first);
    }
    if (this.#isOver) return Promise.resolve(done);
    return new Promise((resolve, reject) => this.#read(resolve, reject));
  }

  /**
   * Resolves with the next message or at the deadline, whichever is first. The later one is
   * ignored.
   */
  #read(resolve: Resolve<Chunk>, reject: (error: unknown) => void): void {
    let isWaiting = true;
    const late = (error: ServiceError) => {
      if (!isWaiting) return;
      isWaiting = false;
      resolve(this.#end(error));
    };
    if (!this.#deadline.begins(this.#options.idleMsMax, late, noAudio)) return;
    this.#messages.next().then(
      (next) => {
        if (!isWaiting) return;
        isWaiting = false;
        // oxlint-disable-next-line promise/no-callback-in-promise -- the one promise for this message is settled here
        this.#take(next, resolve, reject);
      },
      (error: unknown) => {
        if (isWaiting) reject(error);
        isWaiting = false;
      },
    );
  }

  #take(
    next: IteratorResult<StreamingRecognizeRequest>,
    resolve: Resolve<Chunk>,
    reject: (error: unknown) => void,
  ): void {
    try {
      const result = next.done === true ? this.#end() : this.#resultOf(next.value);
      if (result) resolve(result);
      else this.#read(resolve, reject);
    } catch (error) {
      reject(error);
    }
  }

  /** Returns the input in a message; undefined if the message has no effect. */
  #resultOf({ streamingRequest }: StreamingRecognizeRequest): Result<Chunk> | undefined {
    switch (streamingRequest.case) {
      case "audioContent": {
        const { value } = streamingRequest;
        if (value.byteLength === 0) return this.#end();
        return { done: false, value: this.#metered(this.#options.read(value)) };
      }
      case "finalizeUtterance":
        return streamingRequest.value ? { done: false, value: endUtterance } : undefined;
      case "streamingConfig":
        throw unexpectedMessage("a second streamingConfig", "audioContent");
      case undefined:
      default:
        throw unexpectedMessage("a message without a field", "audioContent");
    }
  }

  /** Counts a chunk. Audio after the last accepted chunk is not read. */
  #metered(chunk: Chunk): Chunk {
    this.#refusal = this.#options.meter(chunk);
    if (this.#refusal) this.#isOver = true;
    return chunk;
  }

  #end(refusal?: ServiceError): Result<Chunk> {
    this.#isOver = true;
    this.#refusal = refusal;
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
