import type { Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import type { ChildSession, SessionEnd, SessionOwner } from "./child-session.ts";
import type { OpenSession, SessionOptions } from "../protocol/engine-frames.ts";
import { KeptInput } from "./kept-input.ts";
import type { LiveDemand } from "./live-demand.ts";
import { type InputSource, PeekableInput } from "./peekable-input.ts";
import { RecognitionQueue } from "./recognition-queue.ts";
import { endUtterance, type Recognition, type RecognitionInput } from "../protocol/recognizer.ts";
import type { SessionCheckpoint, Settled } from "../protocol/session-checkpoint.ts";

/**
 * A session that is worked on when its process dies, so often since it last settled anything, is
 * what they die of.
 */
const blamesMax = 2;

/** ErrorInfo.reason of a session that engine processes die of. */
export const engineFailed = "ENGINE_FAILED";

/** A place in an engine process. */
export interface Place {
  readonly session: ChildSession;
  /** Ends the session there. */
  readonly leave: () => void;
}

/**
 * Finds a place; a session that had one before is let in wherever there is any. Throws ServiceError
 * when there is none.
 */
export type FindPlace = (
  owner: SessionOwner,
  payload: OpenSession,
  options: { readonly hadPlace: boolean; readonly signal: AbortSignal },
) => Promise<Place>;

/**
 * One recognition from its first sample to its last result, in as many engine processes as it
 * takes. What was given since the last final is kept (at most 10 s of silence, an utterance, and
 * what waits to be heard), and given again to another process when one dies: nothing is lost,
 * nothing told twice, and times go on counting.
 */
export class ReplayedRecognition {
  readonly #source: PeekableInput;
  readonly #options: SessionOptions;
  readonly #findPlace: FindPlace;
  readonly #log: Log;
  readonly #owner: SessionOwner;
  readonly #kept: KeptInput;
  readonly #results = new RecognitionQueue();
  readonly #closing = new AbortController();
  #checkpoint: SessionCheckpoint | undefined;
  #place: Place | undefined;
  #hasMark = false;
  #interimEndMs = 0;
  #recognizedSamples = 0;
  /** Since anything was settled. */
  #losses = 0;
  #blames = 0;

  constructor(
    source: InputSource,
    options: SessionOptions,
    parts: {
      readonly findPlace: FindPlace;
      readonly demand: LiveDemand;
      readonly log: Log;
      readonly onProgress?: ((ms: number) => void) | undefined;
    },
  ) {
    this.#source = new PeekableInput(source);
    this.#options = options;
    this.#findPlace = parts.findPlace;
    this.#log = parts.log;
    const { onProgress } = parts;
    this.#kept = new KeptInput(options.sampleRateHertz);
    this.#owner = {
      mode: options.mode,
      sampleRateHertz: options.sampleRateHertz,
      demand: parts.demand,
      unsettledSeconds: () => this.#kept.samples / options.sampleRateHertz,
      interim: (recognition) => this.#interim(recognition),
      settled: (settled) => this.#settled(settled),
      ...(onProgress && {
        recognized: (samples: number) => this.#recognized(samples, onProgress),
      }),
    };
  }

  /**
   * Everything that is heard; to be read once. Leaving the loop, or the signal, ends the
   * recognition.
   */
  async *results(signal: AbortSignal | undefined): AsyncGenerator<Recognition, void, undefined> {
    signal?.throwIfAborted();
    const abort = () => this.#results.end({ error: signal?.reason });
    signal?.addEventListener("abort", abort);
    this.#run().then(
      () => this.#results.end(),
      (error: unknown) => this.#results.end({ error }),
    );
    try {
      yield* this.#results.read();
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#results.end();
      this.#closing.abort();
      this.#place?.leave();
      await this.#source.close();
    }
  }

  async #run(): Promise<void> {
    // Who has nothing to say yet takes no place.
    if ((await this.#source.peek()) === undefined) return;
    for (let hadPlace = false; ; hadPlace = true) {
      const payload = {
        options: this.#options,
        ...(this.#checkpoint && { checkpoint: this.#checkpoint }),
        isSuspect: this.#losses > 0,
      };
      const { signal } = this.#closing;
      this.#place = await this.#findPlace(this.#owner, payload, { hadPlace, signal });
      const { session } = this.#place;
      // Closed while it waited for its place.
      if (signal.aborted) this.#place.leave();
      this.#send(session).catch((error: unknown) => session.end({ kind: "failed", error }));
      const end = await session.ended;
      if (end.kind === "failed") throw end.error;
      if (end.kind === "done") return;
      this.#countLoss(end);
    }
  }

  async #send(session: ChildSession): Promise<void> {
    for (const item of this.#kept.items()) await this.#sendItem(session, item);
    for (;;) {
      const { room } = this.#results;
      if (room) await room;
      const item = await this.#source.peek();
      if (session.isOver) return;
      this.#source.take();
      if (item === undefined) break;
      // A second mark with nothing between says nothing new, and would be kept for nothing.
      if (item === endUtterance && this.#hasMark) continue;
      this.#hasMark = item === endUtterance;
      this.#kept.push(item);
      const sending = this.#sendItem(session, item);
      if (sending) await sending;
    }
    session.endInput();
  }

  #sendItem(session: ChildSession, item: RecognitionInput): Promise<void> | undefined {
    if (item !== endUtterance) return session.send(item);
    session.endUtterance();
    return undefined;
  }

  #interim(recognition: Recognition): void {
    // Another process hears again what was told already: the caller sees a delay, and not how words
    // become fewer.
    if (recognition.audioEndMs <= this.#interimEndMs) return;
    this.#interimEndMs = recognition.audioEndMs;
    this.#results.push(recognition);
  }

  #recognized(samples: number, onProgress: (ms: number) => void): void {
    // Another process does again what was done already: that is told once.
    if (samples <= this.#recognizedSamples) return;
    this.#recognizedSamples = samples;
    onProgress((samples * 1000) / this.#options.sampleRateHertz);
  }

  #settled({ final, checkpoint }: Settled): void {
    this.#checkpoint = checkpoint;
    this.#kept.release(checkpoint.position);
    this.#losses = 0;
    this.#blames = 0;
    if (final) this.#results.push(final);
  }

  #countLoss({ wasInHand }: SessionEnd & { readonly kind: "lost" }): void {
    this.#losses += 1;
    if (wasInHand) this.#blames += 1;
    const { mode } = this.#options;
    const keptSeconds = this.#kept.samples / this.#options.sampleRateHertz;
    if (this.#blames < blamesMax) {
      this.#log.debug({ mode, keptSeconds, losses: this.#losses }, "engine.replay");
      return;
    }
    this.#log.warn({ mode, keptSeconds, losses: this.#losses }, "engine.poison");
    throw new ServiceError(
      "internal",
      `the speech engine failed on this audio ${this.#losses} times in a row`,
      { reason: engineFailed },
    );
  }
}
