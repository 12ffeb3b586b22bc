import { engineSampleRate, type RecognitionMode } from "../protocol/engine.ts";
import { type HeardResult, readHeardResult } from "./heard-result.ts";
import {
  floatSamples,
  type OfflineRecognizer,
  type OfflineStream,
  type SherpaConfig,
  type SherpaLibrary,
} from "./sherpa-library.ts";

/** Who has waited longer than another by the difference of these goes before it. */
const patienceMs: Readonly<Record<RecognitionMode, number>> = { live: 0, short: 2000, job: 30_000 };
/**
 * Silence after what is heard, and at least so much of both: the last word is heard better, and no
 * model is given less than it can take.
 */
const trailMs = 300;
const lengthMsMin = 1000;

/** Speech being heard on another thread, or waiting for that. */
export interface Run {
  readonly heard: Promise<HeardResult>;
  /** Nobody wants it any more. It is not begun, and does not end either; what is under way ends. */
  cancel(): void;
}

interface Waiting {
  readonly dueAtMs: number;
  readonly samples: Int16Array;
  readonly config: SherpaConfig | undefined;
  readonly heard: PromiseWithResolvers<HeardResult>;
}

/**
 * Hears whole utterances on the library's own threads, so many at a time in a process: more would
 * take memory, and end no sooner.
 */
export class OfflineRuns {
  readonly #library: SherpaLibrary;
  readonly #recognizer: OfflineRecognizer;
  readonly #runsMax: number;
  readonly #waiting = new Set<Waiting>();
  /** Held, as the library does not: what nobody holds is freed under the feet of its thread. */
  readonly #underWay = new Set<OfflineStream>();
  #runs = 0;

  constructor(library: SherpaLibrary, recognizer: OfflineRecognizer, runsMax: number) {
    this.#library = library;
    this.#recognizer = recognizer;
    this.#runsMax = runsMax;
  }

  /** Whether a run would begin at once. */
  get hasRoom(): boolean {
    return this.#runs < this.#runsMax;
  }

  /**
   * Hears these samples when it is their turn; with a config of their own only where runsMax is 1,
   * as all runs share it.
   */
  add(samples: Int16Array, mode: RecognitionMode, config?: SherpaConfig): Run {
    const dueAtMs = performance.now() + patienceMs[mode];
    const waiting = { dueAtMs, samples, config, heard: Promise.withResolvers<HeardResult>() };
    this.#waiting.add(waiting);
    this.#beginNext();
    return { heard: waiting.heard.promise, cancel: () => this.#waiting.delete(waiting) };
  }

  #beginNext(): void {
    if (!this.hasRoom || this.#waiting.size === 0) return;
    const next = Array.from(this.#waiting).reduce((first, each) =>
      each.dueAtMs < first.dueAtMs ? each : first,
    );
    this.#waiting.delete(next);
    this.#runs += 1;
    const heard = this.#hear(next).finally(() => {
      this.#runs -= 1;
      this.#beginNext();
    });
    heard.then(next.heard.resolve, next.heard.reject);
  }

  async #hear({ samples: spoken, config }: Waiting): Promise<HeardResult> {
    if (config) this.#library.offlineRecognizerSetConfig(this.#recognizer, config);
    const stream = this.#library.createOfflineStream(this.#recognizer);
    const perMs = engineSampleRate / 1000;
    const samples = new Float32Array(
      Math.max(lengthMsMin * perMs, spoken.length + trailMs * perMs),
    );
    samples.set(floatSamples(spoken));
    this.#library.acceptWaveformOffline(stream, { samples, sampleRate: engineSampleRate });
    this.#underWay.add(stream);
    try {
      return readHeardResult(
        await this.#library.decodeOfflineStreamAsync(this.#recognizer, stream),
      );
    } finally {
      this.#underWay.delete(stream);
    }
  }
}
