import { setTimeout as delay } from "node:timers/promises";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { recognizeLive } from "../../src/client/recognize-live.ts";
import { RetryInfoSchema } from "../../src/gen/google/rpc/error_details_pb.ts";
import {
  RecognitionConfig_AudioEncoding as Encoding,
  type Speech,
  type StreamingRecognitionResult,
} from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../../src/std/duration.ts";
import type { CallCounter } from "./call-counter.ts";

const samplesPerMs = 16;
const chunkMs = 100;
/** The recording alternates between speech of this length and silence of the length below. */
const speechMs = 1_300;
const pauseMs = 900;
/** The pause after a failure for which the node gave no reason. */
const againMs = 100;
/**
 * The pause after a socket was closed because its node was shutting down. The close has no retry
 * delay.
 */
const afterCloseMs = 1_000;

/** A range of the recording, in milliseconds. */
type Span = readonly [fromMs: number, toMs: number];

/**
 * Sends an endless recording in real time over streams of one protocol. If a stream ends too early,
 * the caller opens another one and resends everything after the last final result. It records which
 * speech was recognized, to find speech that was not.
 */
export class LiveCaller {
  readonly name: string;
  readonly #speech: Client<typeof Speech>;
  readonly #counter: CallCounter;
  readonly #beganAt = performance.now();
  /** The end of the recording, once the signal has aborted. */
  #endMs = Infinity;
  /** The end of the last final result. */
  #recognizedMs = 0;
  readonly #recognized: Span[] = [];

  constructor(name: string, speech: Client<typeof Speech>, counter: CallCounter) {
    this.name = name;
    this.#speech = speech;
    this.#counter = counter;
    counter.addCaller(name);
  }

  /**
   * Speaks until the signal aborts, and resolves when the recording has been recognized to its end.
   */
  async speak(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", () => {
      this.#endMs = this.#nowMs();
    });
    while (!(await this.#stream())) continue;
  }

  /** The duration of the speech that is in no final result, in milliseconds. */
  get lostMs(): number {
    let lostMs = 0;
    for (let atMs = 0; atMs < this.#endMs; atMs += speechMs + pauseMs) {
      let fromMs = atMs;
      const toMs = Math.min(atMs + speechMs, this.#endMs);
      for (const [knownFromMs, knownToMs] of this.#recognized) {
        if (knownFromMs >= toMs || knownToMs <= fromMs) continue;
        lostMs += Math.max(0, knownFromMs - fromMs);
        fromMs = knownToMs;
      }
      lostMs += Math.max(0, toMs - fromMs);
    }
    return lostMs;
  }

  #nowMs(): number {
    return Math.floor(performance.now() - this.#beganAt);
  }

  /** Opens a stream; returns true if the recording was recognized to its end. */
  async #stream(): Promise<boolean> {
    const fromMs = this.#recognizedMs;
    const sent = { all: false };
    const config = {
      encoding: Encoding.LINEAR16,
      sampleRateHertz: 1_000 * samplesPerMs,
      languageCode: "en-US",
      enableWordTimeOffsets: true,
    };
    try {
      const results = recognizeLive(this.#speech, { config }, this.#audio(fromMs, sent));
      for await (const result of results) this.#onResult(result, fromMs);
      if (sent.all) return true;
      this.#counter.failed(this.name, "the stream ended with OK while its caller was speaking");
    } catch (error) {
      const retryMs = retryMsOf(error);
      if (retryMs === undefined) this.#counter.failed(this.name, error);
      else this.#counter.add("handedOver", this.name);
      await delay(retryMs ?? againMs);
    }
    return false;
  }

  #onResult({ isFinal, alternatives }: StreamingRecognitionResult, fromMs: number): void {
    const words = alternatives[0]?.words ?? [];
    const [start, end] = [words.at(0)?.startTime, words.at(-1)?.endTime];
    if (!isFinal || !start || !end) return;
    this.#recognizedMs = fromMs + msOfDuration(end);
    this.#recognized.push([fromMs + msOfDuration(start), this.#recognizedMs]);
    this.#counter.add("answered", this.name);
  }

  async *#audio(fromMs: number, sent: { all: boolean }): AsyncGenerator<Uint8Array, void> {
    for (let atMs = fromMs; ;) {
      const tillMs = Math.min(atMs + chunkMs, this.#endMs);
      const waitMs = tillMs - this.#nowMs();
      if (waitMs > 0) await delay(waitMs);
      // The recording may have ended in the meantime.
      if (tillMs > this.#endMs) continue;
      yield samplesOf(atMs, tillMs);
      atMs = tillMs;
      if (atMs < this.#endMs) continue;
      sent.all = true;
      return;
    }
  }
}

function samplesOf(fromMs: number, toMs: number): Uint8Array {
  const samples = new Int16Array((toMs - fromMs) * samplesPerMs);
  for (let ms = fromMs; ms < toMs; ms += 1) {
    if (ms % (speechMs + pauseMs) >= speechMs) continue;
    samples.fill(1_000, (ms - fromMs) * samplesPerMs, (ms - fromMs + 1) * samplesPerMs);
  }
  return new Uint8Array(samples.buffer);
}

/**
 * Returns the retry delay if the node reported that it is shutting down, and undefined for any
 * other failure.
 */
function retryMsOf(error: unknown): number | undefined {
  if (!(error instanceof ConnectError) || error.code !== Code.Unavailable) return undefined;
  const [retry] = error.findDetails(RetryInfoSchema);
  if (retry?.retryDelay) return msOfDuration(retry.retryDelay);
  return error.message.includes("(1012") ? afterCloseMs : undefined;
}
