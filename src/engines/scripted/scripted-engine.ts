import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { VoiceActivity } from "../../audio/voice-activity.ts";
import {
  type Decoder,
  type DecoderOptions,
  type Engine,
  engineSampleRate,
  type EngineWord,
  type Hypothesis,
} from "../protocol/engine.ts";
import { remoteAnswer } from "../protocol/remote-answer.ts";

/** A word for each half second. */
const wordMs = 500;
const samplesPerMs = engineSampleRate / 1000;

/**
 * Samples that are orders: where a piece of speech begins with one of them, the engine does what
 * real ones do on bad days. Where they last for 40 ms, a piece begins with one.
 */
export const scriptedOrders = {
  /** The process ends. */
  die: -32_001,
  /** The process works on and on. */
  hang: -32_002,
  /** Something else than frames goes to the service. */
  garble: -32_003,
  /** A second of it takes 200 ms of CPU. */
  toil: -32_004,
  /** The process ends while this is heard elsewhere: on another thread, or with other streams. */
  dieElsewhere: -32_005,
  /** What is heard elsewhere never comes back. */
  hangElsewhere: -32_006,
  /** Another machine is asked, which takes 3 s. */
  askRemote: -32_007,
} as const;
const toilShare = 0.2;
const elsewhereMs = 20;
const remoteMs = 3_000;
const remoteMsMax = 60_000;

/**
 * An engine for load tests and for what a real one cannot be made to do: it hears a new word every
 * 500 ms of an utterance and costs next to nothing. Any sample other than 0 is speech; the text
 * depends on the length of the speech alone.
 */
export function createScriptedEngine(): Engine {
  return {
    name: "scripted",
    languageCodes: ["en-US", "is-IS"],
    utteranceMsMax: 10_000,
    takesHints: false,
    usesThreads: false,
    createDecoder: (options) => new ScriptedDecoder(options),
    createVoiceActivity: () => new DigitalActivity(),
    close() {},
  };
}

class ScriptedDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #samples = 0;
  /** First sample that is not 0, and the one after the last such. */
  #first: number | undefined;
  #last = 0;
  #partial: Hypothesis | undefined;
  /** What is heard elsewhere; of most it does not resolve. */
  #elsewhere: Promise<void> | undefined;

  constructor(options: DecoderOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#samples = 0;
    this.#first = undefined;
    this.#last = 0;
    this.#partial = undefined;
  }

  accept(samples: Int16Array): void {
    const [order] = samples;
    if (order === scriptedOrders.dieElsewhere || order === scriptedOrders.hangElsewhere) {
      this.#elsewhere = Promise.withResolvers<void>().promise;
    }
    if (order === scriptedOrders.dieElsewhere) {
      setTimeout(() => process.kill(process.pid, "SIGKILL"), elsewhereMs);
    }
    if (order === scriptedOrders.askRemote) {
      const answer = sleep(remoteMs).then(() => (this.#elsewhere = undefined));
      this.#elsewhere = remoteAnswer(answer, remoteMsMax);
    }
    obey(samples);
    const last = lastLoud(samples);
    if (last >= 0) {
      this.#first ??= this.#samples + firstLoud(samples);
      this.#last = this.#samples + last + 1;
    }
    this.#samples += samples.length;
  }

  pause(): void {}

  work(): false | Promise<void> {
    return this.#elsewhere ?? false;
  }

  partial(): Hypothesis | undefined {
    if (this.#options.mode !== "live") return undefined;
    const count = this.#wordCount();
    if (count > 0 && count !== this.#partial?.words.length) this.#partial = this.#reading(0);
    return this.#partial;
  }

  // oxlint-disable-next-line require-yield -- there is never enough work for a second slice
  *end(): Generator<void, readonly Hypothesis[], void> {
    if (this.#wordCount() === 0) return [];
    return Array.from({ length: this.#options.alternativesMax }, (_, rank) => this.#reading(rank));
  }

  /** Its utterances have nothing to do with each other. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}

  close(): void {}

  #wordCount(): number {
    if (this.#first === undefined) return 0;
    return Math.ceil((this.#last - this.#first) / (wordMs * samplesPerMs));
  }

  /** Readings differ in their last word. */
  #reading(rank: number): Hypothesis {
    const count = this.#wordCount();
    const firstMs = Math.floor((this.#first ?? 0) / samplesPerMs);
    const lastMs = Math.ceil(this.#last / samplesPerMs);
    const words = Array.from({ length: count }, (_, index): EngineWord => {
      const number = index + 1;
      return {
        text: rank > 0 && number === count ? `word${number}-${rank}` : `word${number}`,
        startMs: firstMs + index * wordMs,
        endMs: Math.min(lastMs, firstMs + number * wordMs),
        confidence: 1 / (rank + 1),
      };
    });
    return { text: words.map(({ text }) => text).join(" "), confidence: 1 / (rank + 1), words };
  }
}

function obey(samples: Int16Array): void {
  switch (samples[0] ?? 0) {
    case scriptedOrders.die:
      process.kill(process.pid, "SIGKILL");
      break;
    case scriptedOrders.hang:
      for (;;);
    case scriptedOrders.garble:
      writeSync(process.stdout.fd, "no frame begins with this");
      break;
    case scriptedOrders.toil:
      toil(samples.length / engineSampleRate);
      break;
    default:
      break;
  }
}

function toil(seconds: number): void {
  const start = process.threadCpuUsage();
  for (;;) {
    // Asking for the time is work too, of the kernel's.
    for (let count = 0; count < 100_000; count++);
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= seconds * toilShare * 1e6) return;
  }
}

/**
 * The first sample that is not 0, -1 without one. A loop: a callback a sample takes ten times as
 * long, and load tests are about what is beside it.
 */
function firstLoud(samples: Int16Array): number {
  for (let at = 0; at < samples.length; at++) if (samples[at] !== 0) return at;
  return -1;
}

function lastLoud(samples: Int16Array): number {
  for (let at = samples.length - 1; at >= 0; at--) if (samples[at] !== 0) return at;
  return -1;
}

/** Exact: digital silence is silence, anything else is speech. */
class DigitalActivity implements VoiceActivity {
  /** 20 ms. */
  readonly frameSamples = 320;
  readonly delayFrames = 0;
  /** It knows from the start. */
  readonly learntFrames = Infinity;

  isSpeech(frame: Int16Array): boolean {
    return firstLoud(frame) >= 0;
  }

  /** It looks at one frame only. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}
}
