import { endUtterance, type RecognitionInput } from "../engines/protocol/recognizer.ts";
import type { StreamingRecognizeRequest } from "../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { Deadline } from "./deadline.ts";
import type { ServiceError } from "../std/service-error.ts";
import { SampleJoiner } from "./linear16.ts";
import { unexpectedMessage } from "./unexpected-message.ts";

type Result = IteratorResult<RecognitionInput, undefined>;
type Resolve = (result: Result) => void;

const done: Result = { done: true, value: undefined };
const noAudio = (seconds: number): string =>
  `no audio was received for ${seconds} s: send an empty audioContent to finalize`;

export interface AudioInputOptions {
  /** The maximum time that the stream may be without audio. */
  readonly idleMsMax: number;
  /** Counts the samples. Returns the reason if no samples are accepted after these. */
  readonly meterAudio: (samples: number) => ServiceError | undefined;
}

/**
 * The samples and flush markers of the messages after the configuration. The input ends at an empty
 * audioContent. When a deadline passes, the input ends with a refusal, so that the audio so far
 * gets its final results. Throws invalid_argument for any other message. This is not a generator:
 * every chunk of every stream passes through here, and the three promises of a generator cost more
 * than all other work on a chunk.
 */
export class AudioInput implements AsyncIterableIterator<RecognitionInput, undefined> {
  readonly #messages: AsyncIterator<StreamingRecognizeRequest>;
  readonly #deadline: Deadline;
  readonly #options: AudioInputOptions;
  readonly #joiner = new SampleJoiner();
  #first: Result | undefined;
  #isOver = false;
  #refusal: ServiceError | undefined;

  constructor(
    messages: AsyncIterator<StreamingRecognizeRequest>,
    deadline: Deadline,
    options: AudioInputOptions,
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

  next(): Promise<Result> {
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
  #read(resolve: Resolve, reject: (error: unknown) => void): void {
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
    resolve: Resolve,
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
  #resultOf({ streamingRequest }: StreamingRecognizeRequest): Result | undefined {
    switch (streamingRequest.case) {
      case "audioContent": {
        const { value } = streamingRequest;
        if (value.byteLength === 0) return this.#end();
        return { done: false, value: this.#metered(this.#joiner.push(value)) };
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

  /** Counts the samples. Audio after the last accepted samples is not read. */
  #metered(samples: Int16Array): Int16Array {
    this.#refusal = this.#options.meterAudio(samples.length);
    if (this.#refusal) this.#isOver = true;
    return samples;
  }

  #end(refusal?: ServiceError): Result {
    this.#isOver = true;
    this.#refusal = refusal;
    return done;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
