import { setTimeout as sleep } from "node:timers/promises";
import {
  type Decoder,
  type DecoderOptions,
  engineSampleRate,
  type Hypothesis,
} from "../protocol/engine.ts";
import { AudioFailed } from "../protocol/audio-failed.ts";
import { EngineUnavailable } from "../protocol/engine-absence.ts";
import { remoteAnswer } from "../protocol/remote-answer.ts";
import type { CallLimit } from "./call-limit.ts";
import { checkedReading, checkedReadings } from "./check-readings.ts";
import type { HostedServer, ServerReading } from "./hosted-server.ts";
import { ServerFailure } from "./server-failure.ts";
import type { ServerHealth } from "./server-health.ts";
import { UtteranceAudio } from "./utterance-audio.ts";

export interface HostedParts {
  /** The model and the address of its server, for messages. */
  readonly name: string;
  readonly server: HostedServer;
  readonly limit: CallLimit;
  readonly health: ServerHealth;
  /** The languages of the model; the first is that of decoders without one. */
  readonly languageCodes: readonly string[];
  /** The maximum time from the end of an utterance to its answer. */
  readonly answerMsMax: { readonly live: number; readonly other: number };
}

/** The waits before an utterance is sent again: a live one has no time for more. */
const retryMs = { live: [200], other: [500, 2000] } as const;
/** The longest wait that the server of an utterance may ask for before the next attempt. */
const retryMsMax = 10_000;
/** After this time a decoder reports again that it waits for the server. */
const sliceMs = 10_000;

/**
 * Sends utterances to a server, one call each: servers that recognize streams get the audio while
 * it is spoken. Nothing outlives an utterance, so any other model can continue.
 */
export class HostedDecoder implements Decoder {
  readonly #parts: HostedParts;
  readonly #options: DecoderOptions;
  #utterance: Utterance | undefined;

  constructor(parts: HostedParts, options: DecoderOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  begin(): void {
    this.#utterance?.drop();
    this.#utterance = new Utterance(this.#parts, this.#options);
  }

  accept(samples: Int16Array): void {
    this.#utterance?.accept(samples);
  }

  pause(): void {}

  work(): false {
    const failure = this.#utterance?.failure;
    if (failure) throw failure.error;
    return false;
  }

  partial(): Hypothesis | undefined {
    return this.#utterance?.partial;
  }

  *end(): Generator<Promise<void>, readonly Hypothesis[], void> {
    const utterance = this.#utterance;
    try {
      return utterance ? yield* utterance.end() : [];
    } finally {
      utterance?.drop();
      this.#utterance = undefined;
    }
  }

  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {
    this.#utterance?.drop();
  }
}

class Utterance {
  readonly #parts: HostedParts;
  readonly #options: DecoderOptions;
  readonly #audio = new UtteranceAudio();
  readonly #dropping = new AbortController();
  #running: Promise<void> | undefined;
  #readings: readonly Hypothesis[] | undefined;
  #partial: ServerReading | undefined;
  failure: { readonly error: unknown } | undefined;

  constructor(parts: HostedParts, options: DecoderOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  get #lengthMs(): number {
    return (this.#audio.samples * 1000) / engineSampleRate;
  }

  get partial(): Hypothesis | undefined {
    if (!this.#partial) return undefined;
    // Words without an end yet have no times that could be shown.
    return checkedReading({ ...this.#partial, words: [] }, this.#lengthMs);
  }

  accept(samples: Int16Array): void {
    this.#audio.push(samples);
    if (!this.#audio.isSilent) this.#running ??= this.#run();
  }

  /** Ends the utterance and waits for its readings. */
  *end(): Generator<Promise<void>, readonly Hypothesis[], void> {
    this.#audio.end();
    if (!this.#running) return [];
    while (!this.#readings && !this.failure) {
      const slice = AbortSignal.timeout(sliceMs);
      const over = Promise.withResolvers<void>();
      slice.addEventListener("abort", () => over.resolve());
      yield remoteAnswer(Promise.race([this.#running, over.promise]), 10 * sliceMs);
    }
    if (this.failure) throw this.failure.error;
    return this.#readings ?? [];
  }

  drop(): void {
    this.#dropping.abort(new Error("the utterance was left"));
    this.#audio.end();
  }

  async #run(): Promise<void> {
    try {
      this.#readings = await this.#recognize();
    } catch (error) {
      this.failure = { error };
    }
  }

  /** Sends the utterance, and sends it again if the server may then recognize it. */
  async #recognize(): Promise<readonly Hypothesis[]> {
    const { health } = this.#parts;
    const waits = retryMs[this.#options.mode === "live" ? "live" : "other"];
    for (let attempts = 0; ; attempts++) {
      try {
        const readings = await this.#attempt();
        health.recognized();
        return readings;
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        const { kind, retryAfterMs = 0 } = error;
        const waitMs = Math.max(waits[attempts] ?? 0, retryAfterMs);
        const isFinal = kind === "denied" || kind === "refused";
        const isLast = attempts >= waits.length || isFinal || waitMs > retryMsMax;
        if (isLast) throw await this.#errorOf(error);
        await sleep(waitMs, undefined, { signal: this.#dropping.signal });
      }
    }
  }

  /** Returns what the last failure means: the server is absent, or this audio is the cause. */
  async #errorOf(failure: ServerFailure): Promise<AudioFailed | EngineUnavailable> {
    const { name, health } = this.#parts;
    const { kind, status = "it cannot be read" } = failure;
    const message = `${name}: ${failure.message}`;
    if (kind === "refused") return new AudioFailed(message, status, failure);
    // Streams and short recordings do not ask for long, and another model continues them.
    if ((kind === "error" || kind === "broken") && this.#options.mode === "job") {
      await health.check();
      const absence = health.absence();
      return absence ? new EngineUnavailable(absence) : new AudioFailed(message, status, failure);
    }
    health.failed({ kind, message });
    const absence = health.absence() ?? { kind: "UNREACHABLE", reason: message, absentMs: 0 };
    return new EngineUnavailable(absence);
  }

  async #attempt(): Promise<readonly Hypothesis[]> {
    const { server, limit, languageCodes } = this.#parts;
    const { mode, alternativesMax, hints = [], languageCode } = this.#options;
    // A server that gets whole utterances has room for others while one is spoken.
    if (!server.isStreamed(mode)) await this.#audio.ended(this.#dropping.signal);
    const release = await limit.take(mode, this.#dropping.signal);
    const deadline = new AbortController();
    const signal = AbortSignal.any([this.#dropping.signal, deadline.signal]);
    const { failed, stop } = this.#startDeadline(deadline);
    try {
      const results = server.recognize(this.#audio.read(signal), {
        languageCode: languageCode ?? languageCodes[0] ?? "",
        mode,
        alternativesMax,
        hints: server.takesHints ? hints : [],
        onPartial: (reading) => (this.#partial = reading),
        signal,
      });
      results.catch(() => {});
      const all = await Promise.race([results, failed]);
      // The words that follow would be lost.
      if (!this.#audio.isEnded) {
        throw new ServerFailure("broken", "it ended the call before the end of the audio");
      }
      return checkedReadings(all, { lengthMs: this.#lengthMs, alternativesMax });
    } finally {
      stop();
      release();
    }
  }

  /** Limits the time from the end of the audio to the answer. */
  #startDeadline(deadline: AbortController): {
    readonly failed: Promise<never>;
    readonly stop: () => void;
  } {
    const { live, other } = this.#parts.answerMsMax;
    const ms = this.#options.mode === "live" ? live : other;
    const { promise: failed, reject } = Promise.withResolvers<never>();
    failed.catch(() => {});
    const stopping = new AbortController();
    const { signal } = stopping;
    const dropped = () => reject(this.#dropping.signal.reason);
    this.#dropping.signal.addEventListener("abort", dropped);
    void this.#audio
      .ended(signal)
      .then(() => sleep(ms, undefined, { signal }))
      .then(
        () => {
          reject(new ServerFailure("unreachable", `it did not answer within ${ms / 1000} s`));
          deadline.abort();
        },
        () => {},
      );
    const stop = () => {
      stopping.abort();
      this.#dropping.signal.removeEventListener("abort", dropped);
    };
    return { failed, stop };
  }
}
