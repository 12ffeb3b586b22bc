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
import type { ChildSession } from "./child-session.ts";
import { LiveDemand } from "./live-demand.ts";
import { replayWindow } from "./replay-window.ts";
import type { SessionClient } from "./session-client.ts";
import { windowOptions } from "./session-options.ts";
import type { SessionPlacement } from "./session-placement.ts";

/** The alignment of one window, in as many processes as necessary: see replayWindow(). */
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
      options: windowOptions(languageCode),
      words,
      ...(!isSamples && { outputsMs: windowMs }),
    };
    this.#placement = placement;
    this.#log = log;
  }

  /** Returns the times of the words, to be called once. */
  async run(signal: AbortSignal): Promise<readonly WordTime[]> {
    return await replayWindow(
      {
        client: this,
        payload: this.#payload,
        placement: this.#placement,
        send: (session) => this.#send(session),
        found: () => this.#found,
        log: this.#log,
      },
      signal,
    );
  }

  #send(session: ChildSession): Promise<void> | undefined {
    if (this.#window instanceof Int16Array) return session.send(this.#window);
    session.sendOutputs(this.#window.bytes);
    return undefined;
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
