import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { VoiceActivity } from "../../audio/voice-activity.ts";
import type { WordTime } from "../protocol/alignment.ts";
import {
  type AlignmentSlices,
  type Decoder,
  type DecoderOptions,
  type Engine,
  engineSampleRate,
  type EngineWord,
  type Hypothesis,
} from "../protocol/engine.ts";
import { remoteAnswer } from "../protocol/remote-answer.ts";

/** The length of each word. */
const wordMs = 500;
const samplesPerMs = engineSampleRate / 1000;

/**
 * Samples that are commands: if an accepted chunk begins with one of them, the engine fails as a
 * real engine may. A run of 40 ms of such samples always begins a chunk.
 */
export const scriptedOrders = {
  /** The process crashes. */
  die: -32_001,
  /** The process loops forever. */
  hang: -32_002,
  /** The process sends the service bytes that are not a frame. */
  garble: -32_003,
  /** One second of these samples takes 200 ms of CPU time. */
  toil: -32_004,
  /** The process crashes while the work is elsewhere: on another thread, or in a batch. */
  dieOnThread: -32_005,
  /** Work on another thread never ends. */
  hangOnThread: -32_006,
  /** The engine waits for another machine, which takes 3 s to respond. */
  askRemote: -32_007,
} as const;
const toilShare = 0.2;
const dieAfterMs = 20;
const remoteMs = 3_000;
const remoteMsMax = 60_000;

/**
 * Creates an engine for load tests, and for faults that a real engine cannot be made to have. It
 * returns a word for every 500 ms of an utterance, and costs almost nothing. Any sample other than
 * 0 is speech; the text depends only on the length of the speech. Words are aligned evenly to the
 * speech of a window.
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
    align: alignEvenly,
    close() {},
  };
}

class ScriptedDecoder implements Decoder {
  readonly #options: DecoderOptions;
  #samples = 0;
  /**
   * The position of the first sample that is not 0, and the position after the last such sample.
   */
  #first: number | undefined;
  #last = 0;
  #partial: Hypothesis | undefined;
  /** Work on a thread, in a batch or on another machine. Most of it never resolves. */
  #threadWork: Promise<void> | undefined;

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
    if (order === scriptedOrders.dieOnThread || order === scriptedOrders.hangOnThread) {
      this.#threadWork = Promise.withResolvers<void>().promise;
    }
    if (order === scriptedOrders.dieOnThread) {
      setTimeout(() => process.kill(process.pid, "SIGKILL"), dieAfterMs);
    }
    if (order === scriptedOrders.askRemote) {
      const answer = sleep(remoteMs).then(() => (this.#threadWork = undefined));
      this.#threadWork = remoteAnswer(answer, remoteMsMax);
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
    return this.#threadWork ?? false;
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

  /** The decoder has no state that outlives an utterance. */
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

/** The duration of audio that is checked for orders at a time. */
const orderSamples = 40 * samplesPerMs;

function* alignEvenly(window: Int16Array, words: readonly string[]): AlignmentSlices {
  for (let at = 0; at < window.length; at += orderSamples) {
    obey(window.subarray(at, at + orderSamples));
    yield;
  }
  const first = Math.max(0, firstLoud(window)) / samplesPerMs;
  const length = (lastLoud(window) + 1) / samplesPerMs - first;
  const timeOf = (index: number) => Math.floor(first + (length * index) / words.length);
  return words.map((_, index): WordTime => {
    const score = length > 0 ? 1 : 0;
    return { startMs: timeOf(index), endMs: timeOf(index + 1), score };
  });
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
    // A loop is used, since reading the clock would be work of the kernel.
    for (let count = 0; count < 100_000; count++);
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= seconds * toilShare * 1e6) return;
  }
}

/**
 * Returns the index of the first sample that is not 0, or -1. This is a loop, since a callback for
 * each sample takes ten times as long, and load tests are meant to measure the rest of the service.
 */
function firstLoud(samples: Int16Array): number {
  for (let at = 0; at < samples.length; at++) if (samples[at] !== 0) return at;
  return -1;
}

function lastLoud(samples: Int16Array): number {
  for (let at = samples.length - 1; at >= 0; at--) if (samples[at] !== 0) return at;
  return -1;
}

/** Exact voice activity: digital silence is silence, and anything else is speech. */
class DigitalActivity implements VoiceActivity {
  readonly name = "digital";
  /** A frame is 20 ms. */
  readonly frameSamples = 320;
  readonly delayFrames = 0;
  /** Nothing has to be learned. */
  readonly learnedFrames = Infinity;

  isSpeech(frame: Int16Array): boolean {
    return firstLoud(frame) >= 0;
  }

  /** This detector has no state. */
  save(): readonly number[] {
    return [];
  }

  restore(): void {}
}
