import type { HlustClient } from "../../client/hlust-client.ts";
import type { StreamingRecognitionResult } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { msOfDuration } from "../../std/duration.ts";
import { type ApiError, offlineError } from "../api/api-error.ts";
import { Pause } from "../upload/pause.ts";
import type { Recording } from "./recording.ts";
import { sharedTimes, type SpokenWord } from "./spoken.ts";
import { failureOf } from "./stream-failure.ts";
import { StreamWatch } from "./stream-watch.ts";

/** How it stands between this page and the service. */
export type Link =
  /** Nothing is to be heard. */
  | { readonly kind: "idle" }
  | { readonly kind: "open" }
  /** Broken: tried again in a moment. What is said is kept until then. */
  | { readonly kind: "waiting"; readonly error: ApiError }
  /** Broken: tried again when the user wants it. */
  | { readonly kind: "failed"; readonly error: ApiError };

export interface HearingEvents {
  readonly onWords: (words: readonly SpokenWord[], isFinal: boolean) => void;
  /** The last final is heard again: it had been cut short. */
  readonly onTakeBack: () => void;
  readonly onLink: (link: Link) => void;
}

/**
 * decisions, Speech: silence that ends an utterance. A final with less of it behind was cut short:
 * by the end of its stream.
 */
const endingMs = 500;
/**
 * Sound without words that was sent so long ago is not sent again to the next stream: utterances
 * last 60 s at most, and what stands in buffers on the way is a minute or two.
 */
const replaySecondsMax = 300;

/**
 * A final: from where on it had sound, where its last word ends, and what had been sent when it
 * came. In samples.
 */
interface Final {
  readonly start: number;
  readonly end: number;
  readonly sent: number;
}

/**
 * Has a recording heard while it grows, by one live stream after the other: where one breaks, the
 * next begins where the last final ended, so that nothing is lost whatever happens on the way.
 * Times of words are those of the recording.
 */
export class Hearing {
  readonly #client: HlustClient;
  readonly #recording: Recording;
  readonly #languageCode: string;
  readonly #events: HearingEvents;
  readonly #pause = new Pause();
  #running: Promise<void> | undefined;
  #stopped = new AbortController();
  /** Samples up to here are done with. */
  #position = 0;
  #sent = 0;
  #failures = 0;
  /** Where the last final of the stream that broke began, if it was cut short. */
  #torn: number | undefined;

  constructor(
    recording: Recording,
    options: {
      readonly client: HlustClient;
      readonly languageCode: string;
      readonly events: HearingEvents;
    },
  ) {
    this.#recording = recording;
    this.#client = options.client;
    this.#languageCode = options.languageCode;
    this.#events = options.events;
  }

  /** Seconds that were said and not yet sent. */
  get unsentSeconds(): number {
    return (this.#recording.length - this.#sent) / this.#recording.rate;
  }

  /** Hears what there is and what comes, until the end of the recording; again after it went on. */
  start(): void {
    if (this.#running) return;
    this.#stopped = new AbortController();
    this.#events.onLink({ kind: "open" });
    this.#running = this.#run(this.#stopped.signal).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when everything has been heard, up to an end of the recording. */
  async done(): Promise<void> {
    await this.#running;
  }

  /** Tries again now. */
  retry(): void {
    this.#pause.end();
  }

  /** Hears no more, until start(), of a recording that has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (await this.#recording.hasMore(this.#torn ?? this.#position)) {
      if (signal.aborted) break;
      try {
        await this.#hear(signal);
      } catch (cause) {
        if (signal.aborted) break;
        const { error, retryMs } = failureOf(cause, this.#failures);
        this.#failures += 1;
        if (retryMs === 0) continue;
        this.#events.onLink({ kind: retryMs === undefined ? "failed" : "waiting", error });
        await this.#pause.wait(retryMs ?? Infinity, signal).catch(() => {});
      }
    }
    this.#events.onLink({ kind: "idle" });
  }

  /** One stream, to its end. */
  async #hear(signal: AbortSignal): Promise<void> {
    const start = this.#torn ?? this.#position;
    const broken = new AbortController();
    using watch = new StreamWatch({
      isDue: () => this.#recording.isOver || this.#recording.length > this.#sent,
      onStill: () => broken.abort(),
      onOpen: () => this.#opened(),
    });
    this.#sent = start;
    const audio = this.#recording.from(start, (end) => {
      this.#sent = end;
      watch.moved();
    });
    const config = streamingConfigOf(this.#languageCode, this.#recording.rate);
    const results = this.#client.recognizeLive(config, audio, {
      signal: AbortSignal.any([signal, broken.signal]),
    });
    let last: Final | undefined;
    try {
      for await (const result of results) {
        watch.moved();
        last = this.#take(result, start) ?? last;
      }
      // Its audio had ended: all of it was heard.
      this.#torn = undefined;
      this.#position = this.#sent;
    } catch (error) {
      this.#brokeOff(last);
      throw broken.signal.aborted ? offlineError() : error;
    }
  }

  /** Answers a final that has words. */
  #take(result: StreamingRecognitionResult, start: number): Final | undefined {
    this.#opened();
    this.#takeBackTorn();
    const words = this.#wordsOf(result, start);
    let final: Final | undefined;
    if (result.isFinal && words.length > 0) {
      const end = Math.min(this.#sent, this.#samplesOf(words.at(-1)?.endMs ?? 0));
      final = { start: this.#position, end, sent: this.#sent };
      this.#position = Math.max(this.#position, end);
    }
    this.#events.onWords(words, result.isFinal);
    return final;
  }

  #opened(): void {
    this.#failures = 0;
    this.#events.onLink({ kind: "open" });
  }

  /** Where the next stream is to begin. */
  #brokeOff(last: Final | undefined): void {
    const heardAsSilence = this.#sent - replaySecondsMax * this.#recording.rate;
    this.#position = Math.max(this.#position, heardAsSilence);
    if (last && last.sent - last.end < this.#samplesOf(endingMs)) this.#torn = last.start;
  }

  /** What was cut short stays until the next stream has something to say of the same sound. */
  #takeBackTorn(): void {
    if (this.#torn === undefined) return;
    this.#position = this.#torn;
    this.#torn = undefined;
    this.#events.onTakeBack();
  }

  #wordsOf({ alternatives: [best] }: StreamingRecognitionResult, start: number): SpokenWord[] {
    if (!best) return [];
    const startMs = this.#msAt(start);
    const timed = best.words.flatMap(({ word, startTime, endTime }) =>
      startTime && endTime
        ? [
            {
              text: word,
              startMs: Math.round(startMs + msOfDuration(startTime)),
              endMs: Math.round(startMs + msOfDuration(endTime)),
            },
          ]
        : [],
    );
    if (timed.length > 0) return timed;
    // Some models give no times.
    return sharedTimes(best.transcript, this.#msAt(this.#position), this.#msAt(this.#sent));
  }

  #samplesOf(ms: number): number {
    return Math.round((ms * this.#recording.rate) / 1000);
  }

  #msAt(sample: number): number {
    return (1000 * sample) / this.#recording.rate;
  }
}

/** What is asked of a stream. */
export function streamingConfigOf(languageCode: string, sampleRateHertz: number) {
  return {
    config: {
      sampleRateHertz,
      languageCode,
      enableWordTimeOffsets: true,
      enableAutomaticPunctuation: true,
    },
    interimResults: true,
  };
}
