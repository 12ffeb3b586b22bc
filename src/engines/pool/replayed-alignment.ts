import type { Log } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import {
  type AlignedWindow,
  alignedMsMax,
  alignedWordsMax,
  type WordTime,
} from "../protocol/alignment.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import type { OpenSession } from "../protocol/engine-frames.ts";
import { LiveDemand } from "./live-demand.ts";
import { crashesMax, engineFailed } from "./replayed-recognition.ts";
import type { SessionClient } from "./session-client.ts";
import type { SessionPlacement } from "./session-placement.ts";

/**
 * The alignment of one window, in as many engine processes as necessary: a process that dies is
 * followed by another one, which receives the whole window.
 */
export class ReplayedAlignment implements SessionClient {
  readonly mode = "job";
  readonly sampleRateHertz = engineSampleRate;
  readonly demand = new LiveDemand(0);
  readonly fullDemand = 0;
  readonly uncommittedSeconds: number;
  readonly #window: AlignedWindow;
  readonly #payload: Pick<OpenSession, "options" | "words" | "outputsMs">;
  readonly #placement: SessionPlacement;
  readonly #log: Log;
  #found: readonly WordTime[] | undefined;

  /** Throws ServiceError if the window or its words are too long. */
  constructor(
    window: AlignedWindow,
    {
      words,
      languageCode,
      placement,
      log,
    }: {
      readonly words: readonly string[];
      readonly languageCode: string;
      readonly placement: SessionPlacement;
      readonly log: Log;
    },
  ) {
    const isSamples = window instanceof Int16Array;
    const windowMs = isSamples ? (1000 * window.length) / engineSampleRate : window.windowMs;
    this.uncommittedSeconds = windowMs / 1000;
    checkLimit("window", Math.ceil(windowMs), alignedMsMax, "ms");
    checkLimit("words", words.length, alignedWordsMax, "words");
    this.#window = window;
    this.#payload = {
      options: {
        languageCode,
        mode: "job",
        sampleRateHertz: engineSampleRate,
        alternativesMax: 1,
        interim: false,
        silenceMsMin: 0,
        punctuation: true,
      },
      words,
      ...(!isSamples && { outputsMs: windowMs }),
    };
    this.#placement = placement;
    this.#log = log;
  }

  /** Returns the times of the words, to be called once. */
  async run(signal: AbortSignal): Promise<readonly WordTime[]> {
    let crashes = 0;
    for (let losses = 0; ; losses++) {
      const end = await this.#attempt(losses, signal);
      signal.throwIfAborted();
      if (end.kind === "failed") throw end.error;
      if (this.#found) return this.#found;
      if (end.kind === "lost" && end.wasActive) crashes += 1;
      if (crashes < crashesMax) continue;
      this.#log.warn({ mode: this.mode, losses }, "engine.poison");
      throw new ServiceError(
        "internal",
        `the speech engine failed on this audio ${crashes} times in a row`,
        { reason: engineFailed },
      );
    }
  }

  async #attempt(losses: number, signal: AbortSignal) {
    signal.throwIfAborted();
    const payload = { ...this.#payload, isSuspect: losses > 0 };
    const place = { hadPlace: losses > 0, signal };
    const { child, session } = await this.#placement.find(this, payload, place);
    const leave = () => child.leave(session);
    signal.addEventListener("abort", leave);
    try {
      if (this.#window instanceof Int16Array) await session.send(this.#window);
      else session.sendOutputs(this.#window.bytes);
      session.endInput();
      return await session.ended;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  aligned(words: readonly WordTime[]): void {
    this.#found = words;
  }

  interim(): void {}

  committed(): void {}

  progress(): void {}
}

function checkLimit(name: string, value: number, most: number, unit: string): void {
  if (value <= most) return;
  throw new ServiceError("invalid_argument", `${name} must have at most ${most} ${unit}: ${value}`);
}
