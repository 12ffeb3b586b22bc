import type { StreamingRecognitionResult } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { type ApiError, offlineError } from "../api/api-error.ts";
import { Pause } from "../upload/pause.ts";
import type { LiveRecording } from "./live-recording.ts";
import type { LiveStreams } from "./live-streams.ts";
import { sharedTimes, type SpokenWord } from "./spoken.ts";
import { retryDelayMs } from "./retry-delay.ts";
import { StreamWatch } from "./stream-watch.ts";

/** The connection between this page and the service. */
export type Connection =
  /** There is nothing to recognize. */
  | { readonly kind: "idle" }
  | { readonly kind: "open" }
  /**
   * The connection was lost, and the next attempt starts automatically. Until then, the audio is
   * stored.
   */
  | { readonly kind: "waiting"; readonly error: ApiError }
  /** The connection was lost, and only the user can start the next attempt. */
  | { readonly kind: "failed"; readonly error: ApiError };

export interface RecognitionEvents {
  readonly onWords: (words: readonly SpokenWord[], isFinal: boolean) => void;
  /** Called when the last final result was cut short, before its audio is recognized again. */
  readonly onRetract: () => void;
  readonly onConnection: (connection: Connection) => void;
}

/**
 * The silence that ends an utterance (docs/api.md, Speech). A final result followed by less silence
 * was cut short by the end of its stream.
 */
const endpointSilenceMs = 500;
/**
 * The maximum age of sent audio without words that is sent again to the next stream. An utterance
 * lasts 60 s at most, and buffers along the way contain a minute or two.
 */
const replaySecondsMax = 300;

/** The position of a final result, in samples. */
interface FinalSpan {
  /** The position at which its audio begins. */
  readonly start: number;
  /** The position at which its last word ends. */
  readonly end: number;
  /** How much audio had been sent when the result arrived. */
  readonly sent: number;
}

/**
 * Recognizes a recording while it grows, with a series of live streams. When a stream breaks, the
 * next stream begins where the last final result ended, so that nothing is lost. Word times are
 * relative to the start of the recording.
 */
export class LiveRecognition {
  readonly #loadStreams: () => Promise<LiveStreams>;
  readonly #recording: LiveRecording;
  readonly #languageCode: string;
  readonly #events: RecognitionEvents;
  readonly #pause = new Pause();
  #running: Promise<void> | undefined;
  #stopped = new AbortController();
  /** All samples before this position have a final result. */
  #position = 0;
  #sent = 0;
  #failures = 0;
  /**
   * The position at which the last final result of the broken stream began, if that result was cut
   * short.
   */
  #cutShort: number | undefined;

  constructor(
    recording: LiveRecording,
    options: {
      /** Loads what streams need; may be tried again. */
      readonly loadStreams: () => Promise<LiveStreams>;
      readonly languageCode: string;
      readonly events: RecognitionEvents;
      /** The position up to which all samples have a final result. Default: 0. */
      readonly position?: number;
    },
  ) {
    this.#position = options.position ?? 0;
    this.#sent = this.#position;
    this.#recording = recording;
    this.#loadStreams = options.loadStreams;
    this.#languageCode = options.languageCode;
    this.#events = options.events;
  }

  /** The seconds of audio that have been recorded but not sent yet. */
  get unsentSeconds(): number {
    return (this.#recording.length - this.#sent) / this.#recording.rate;
  }

  /**
   * Recognizes until the recording ends. Call this method again when the recording has been
   * resumed.
   */
  start(): void {
    if (this.#running) return;
    this.#stopped = new AbortController();
    this.#events.onConnection({ kind: "open" });
    this.#running = this.#run(this.#stopped.signal).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when everything up to the end of the recording has been recognized. */
  async done(): Promise<void> {
    await this.#running;
  }

  /** Starts the next attempt now. */
  retry(): void {
    this.#pause.end();
  }

  /** Stops recognizing a recording that has ended, until start() is called again. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let streams: LiveStreams | undefined;
    while (await this.#recording.hasMore(this.#cutShort ?? this.#position)) {
      if (signal.aborted) break;
      try {
        streams ??= await Promise.race([this.#loadStreams(), abortOf(signal)]);
        await this.#recognize(streams, signal);
      } catch (cause) {
        if (signal.aborted) break;
        const { error, retryMs } = streams?.failureOf(cause, this.#failures) ?? {
          error: offlineError(),
          retryMs: retryDelayMs(this.#failures),
        };
        this.#failures += 1;
        if (retryMs === 0) continue;
        this.#events.onConnection({ kind: retryMs === undefined ? "failed" : "waiting", error });
        await this.#pause.wait(retryMs ?? Infinity, signal).catch(() => {});
      }
    }
    this.#events.onConnection({ kind: "idle" });
  }

  /** Runs one stream to its end. */
  async #recognize(streams: LiveStreams, signal: AbortSignal): Promise<void> {
    const start = this.#cutShort ?? this.#position;
    const broken = new AbortController();
    using watch = new StreamWatch({
      isDue: () => this.#recording.isOver || this.#recording.length > this.#sent,
      onStall: () => broken.abort(),
      onOpen: () => this.#opened(),
    });
    this.#sent = start;
    const audio = this.#recording.from(start, (end) => {
      this.#sent = end;
      watch.moved();
    });
    const config = streamingConfigOf(this.#languageCode, this.#recording.rate);
    const results = streams.client.recognizeLive(config, audio, {
      signal: AbortSignal.any([signal, broken.signal]),
    });
    let last: FinalSpan | undefined;
    try {
      for await (const result of results) {
        watch.moved();
        this.#opened();
        this.#retractCutShort();
        last = this.#take(result, this.#wordsOf(streams, result, start)) ?? last;
      }
      // The audio ended before the stream did, so all of it has been recognized.
      this.#cutShort = undefined;
      this.#position = this.#sent;
    } catch (error) {
      this.#brokeOff(last);
      throw broken.signal.aborted ? offlineError() : error;
    }
  }

  /** Reports the words of a result. Returns the result's span if it is final and has words. */
  #take({ isFinal }: StreamingRecognitionResult, words: SpokenWord[]): FinalSpan | undefined {
    let final: FinalSpan | undefined;
    if (isFinal && words.length > 0) {
      const end = Math.min(this.#sent, this.#samplesOf(words.at(-1)?.endMs ?? 0));
      final = { start: this.#position, end, sent: this.#sent };
      this.#position = Math.max(this.#position, end);
    }
    this.#events.onWords(words, isFinal);
    return final;
  }

  #opened(): void {
    this.#failures = 0;
    this.#events.onConnection({ kind: "open" });
  }

  /** Decides where the next stream begins. */
  #brokeOff(last: FinalSpan | undefined): void {
    const replayStart = this.#sent - replaySecondsMax * this.#recording.rate;
    this.#position = Math.max(this.#position, replayStart);
    const isCutShort = last && last.sent - last.end < this.#samplesOf(endpointSilenceMs);
    if (isCutShort) this.#cutShort = last.start;
  }

  /**
   * Retracts a result that was cut short. The result is shown until the next stream has a result
   * for the same audio.
   */
  #retractCutShort(): void {
    if (this.#cutShort === undefined) return;
    this.#position = this.#cutShort;
    this.#cutShort = undefined;
    this.#events.onRetract();
  }

  #wordsOf(
    { timedWords }: LiveStreams,
    { alternatives: [best] }: StreamingRecognitionResult,
    start: number,
  ): SpokenWord[] {
    if (!best) return [];
    const timed = timedWords(best.words, this.#msAt(start));
    if (timed.length > 0) return timed;
    // Some models return no word times.
    return sharedTimes(best.transcript, this.#msAt(this.#position), this.#msAt(this.#sent));
  }

  #samplesOf(ms: number): number {
    return Math.round((ms * this.#recording.rate) / 1000);
  }

  #msAt(sample: number): number {
    return (1000 * sample) / this.#recording.rate;
  }
}

/** Rejects with the reason of the signal when it is aborted. */
function abortOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Returns the configuration of a live stream. */
function streamingConfigOf(languageCode: string, sampleRateHertz: number) {
  return {
    config: {
      sampleRateHertz,
      languageCode,
      enableWordTimeOffsets: true,
      enableAutomaticPunctuation: true,
      enableFormatting: true,
    },
    interimResults: true,
  };
}
