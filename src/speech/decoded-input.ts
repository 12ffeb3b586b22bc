import { once } from "node:events";
import { PassThrough } from "node:stream";
import { AudioError } from "../audio/audio-error.ts";
import { openStreamDecoder, type StreamDecoder } from "../audio/decode-stream.ts";
import { PcmStream } from "../audio/pcm-stream.ts";
import type { Sandbox } from "../audio/sandbox.ts";
import type { StreamFormat } from "../audio/stream-framers.ts";
import { endUtterance, type RecognitionInput } from "../engines/protocol/recognizer.ts";
import type { ServiceError } from "../std/service-error.ts";
import type { AudioInput } from "./audio-input.ts";
import { streamFormatOf, type ContainerEncoding } from "./container-format.ts";
import type { DecoderPlaces } from "./decoder-places.ts";

export interface DecodedInputOptions {
  readonly encoding: ContainerEncoding;
  readonly sandbox: Sandbox;
  readonly places: DecoderPlaces;
  readonly streamMsMax: number;
  /** Gaps in the times of the audio up to this length become silence. */
  readonly gapMsMax: number;
  /** Counts decoded samples. Returns the reason if no audio is accepted after them. */
  readonly meter: (samples: Int16Array) => ServiceError | undefined;
  /** Converts the error of invalid audio. */
  readonly explain: (error: AudioError) => ServiceError;
}

/**
 * When a flush marker takes effect, so that the audio before it has been decoded: when nothing was
 * decoded for quietMs, or decodingMsMax after the marker and the first decoded audio while more
 * arrives, or after startMsMax while the decoder starts. What a decoder holds back cannot be known.
 */
const flushAfter = { quietMs: 100, decodingMsMax: 300, startMsMax: 10_000 };
/** The number of decoded chunks that wait for the recognition. */
const mergedItemsMax = 8;

/**
 * The decoded audio and the flush markers of a stream of containers. When the audio cannot be
 * decoded, the input ends with a refusal, so that the audio before gets its final results.
 * Disposing of it ends the decoder.
 */
export class DecodedInput implements AsyncDisposable {
  readonly #source: AudioInput<Uint8Array>;
  readonly #options: DecodedInputOptions;
  readonly #items: AsyncGenerator<RecognitionInput, undefined, undefined>;
  readonly #closing = new AsyncDisposableStack();
  #first: IteratorResult<RecognitionInput, undefined> | undefined;
  #refusal: ServiceError | undefined;
  /** When the last samples were decoded. */
  #decodedMs: number | undefined;
  /** When the first audio was decoded. */
  #startedMs: number | undefined;

  constructor(source: AudioInput<Uint8Array>, options: DecodedInputOptions) {
    this.#source = source;
    this.#options = options;
    this.#items = this.#read();
  }

  /** The reason why the input ended, if the client did not end it. */
  get refusal(): ServiceError | undefined {
    return this.#refusal ?? this.#source.refusal;
  }

  /** Returns whether there is any audio. Waits for the first item, which next() returns. */
  async begins(): Promise<boolean> {
    this.#first = await this.next();
    return this.#first.done !== true;
  }

  async next(): Promise<IteratorResult<RecognitionInput, undefined>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? (await this.#items.next());
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync();
  }

  async *#read(): AsyncGenerator<RecognitionInput, undefined, undefined> {
    try {
      const start = await this.#start();
      if (!start) return;
      const { format, head, markers } = start;
      for (let left = markers; left > 0; left -= 1) yield endUtterance;
      const items = format === "wav" ? this.#readWav(head) : this.#decode(format, head);
      for await (const item of items) {
        if (item !== endUtterance) this.#refusal = this.#options.meter(item);
        yield item;
        if (this.#refusal) return;
      }
    } catch (error) {
      if (!(error instanceof AudioError)) throw error;
      this.#refusal = this.#options.explain(error);
    }
  }

  /** Reads the first bytes until they show the format. Returns undefined without any audio. */
  async #start() {
    let head = Buffer.alloc(0);
    let markers = 0;
    for (;;) {
      const { done, value } = await this.#source.next();
      if (value === endUtterance) {
        markers += 1;
        continue;
      }
      const isWhole = done === true;
      if (isWhole && (head.length === 0 || this.#source.refusal)) return undefined;
      if (!isWhole) head = Buffer.concat([head, value]);
      const format = streamFormatOf(this.#options.encoding, head, isWhole);
      if (format) return { format, head, markers };
      if (isWhole) throw new Error("the format of the whole audio is undecided");
    }
  }

  async *#readWav(head: Buffer): AsyncGenerator<RecognitionInput, void, undefined> {
    const pcm = new PcmStream("wav");
    yield pcm.push(head);
    for await (const item of this.#source) {
      yield item === endUtterance ? item : pcm.push(item);
    }
    yield pcm.end().samples;
  }

  async *#decode(
    format: StreamFormat,
    head: Buffer,
  ): AsyncGenerator<RecognitionInput, void, undefined> {
    const { places, sandbox, streamMsMax, gapMsMax } = this.#options;
    this.#closing.use(places.take());
    const decoder = await openStreamDecoder({ sandbox, format, streamMsMax, gapMsMax });
    if (this.#closing.disposed) await decoder[Symbol.asyncDispose]();
    else this.#closing.use(decoder);
    const merged = new PassThrough({ objectMode: true, highWaterMark: mergedItemsMax });
    let failure: { readonly error: unknown } | undefined;
    const fail = (error: unknown): void => {
      failure ??= { error };
      merged.end();
    };
    void this.#feed(decoder, head, merged).catch(async (error: unknown) => {
      failure ??= { error };
      await decoder[Symbol.asyncDispose]();
    });
    void this.#passSamples(decoder, merged).catch(fail);
    yield* merged as AsyncIterable<RecognitionInput>;
    if (failure) throw failure.error;
  }

  /** Passes the messages to the decoder as fast as it reads them. */
  async #feed(decoder: StreamDecoder, head: Buffer, merged: PassThrough): Promise<void> {
    await decoder.write(head);
    for await (const item of this.#source) {
      if (merged.writableEnded) return;
      if (item !== endUtterance) await decoder.write(item);
      else this.#flush(merged, performance.now());
    }
    decoder.end();
  }

  /** Passes on a flush marker of this time when the audio before it has been decoded. */
  #flush(merged: PassThrough, markerMs: number): void {
    const timer = setInterval(() => {
      const now = performance.now();
      const decodedMs = this.#decodedMs;
      const quietMs = decodedMs === undefined ? 0 : now - Math.max(decodedMs, markerMs);
      const { quietMs: quietMsMin, decodingMsMax, startMsMax } = flushAfter;
      const waitMsMax = decodedMs === undefined ? startMsMax : decodingMsMax;
      const sinceMs = Math.max(markerMs, this.#startedMs ?? markerMs);
      if (quietMs < quietMsMin && now - sinceMs < waitMsMax) return;
      clearInterval(timer);
      if (!merged.writableEnded) merged.write(endUtterance);
    }, flushAfter.quietMs / 4);
    merged.once("close", () => clearInterval(timer));
  }

  /** Passes the decoded samples on as fast as they are read. */
  async #passSamples(decoder: StreamDecoder, merged: PassThrough): Promise<void> {
    for await (const samples of decoder.samples) {
      if (merged.writableEnded) return;
      this.#decodedMs = performance.now();
      this.#startedMs ??= this.#decodedMs;
      if (!merged.write(samples)) await once(merged, "drain");
    }
    merged.end();
  }
}
