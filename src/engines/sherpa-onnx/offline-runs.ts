import { engineSampleRate, type RecognitionMode } from "../protocol/engine.ts";
import { type LibraryResult, readLibraryResult } from "./library-result.ts";
import {
  floatSamples,
  type OfflineRecognizer,
  type OfflineStream,
  type SherpaConfig,
  type SherpaLibrary,
} from "./sherpa-library.ts";

/** The delay for each mode. Runs begin in the order of their arrival time plus this delay. */
const delayMs: Readonly<Record<RecognitionMode, number>> = { live: 0, short: 2000, job: 30_000 };
/**
 * The silence after the samples, and the minimum length of both together. The silence improves
 * recognition of the last word, and the minimum length ensures that every model gets enough audio
 * to process.
 */
const trailMs = 300;
const lengthMsMin = 1000;

/** An utterance that is being decoded on another thread, or waits to be. */
export interface Run {
  readonly result: Promise<LibraryResult>;
  /**
   * Removes the run from the queue; its result then never resolves. A run that is under way is not
   * stopped.
   */
  cancel(): void;
}

interface Waiting {
  readonly dueAtMs: number;
  readonly samples: Int16Array;
  readonly config: SherpaConfig | undefined;
  readonly result: PromiseWithResolvers<LibraryResult>;
}

/**
 * Decodes whole utterances on the library's own threads, at most runsMax at a time. More runs would
 * take more memory and not end sooner.
 */
export class OfflineRuns {
  readonly #library: SherpaLibrary;
  readonly #recognizer: OfflineRecognizer;
  readonly #runsMax: number;
  readonly #waiting = new Set<Waiting>();
  /**
   * References to streams that are being decoded, since the library keeps none: an unreferenced
   * stream may be freed while it is decoded.
   */
  readonly #underWay = new Set<OfflineStream>();
  #runs = 0;

  constructor(library: SherpaLibrary, recognizer: OfflineRecognizer, runsMax: number) {
    this.#library = library;
    this.#recognizer = recognizer;
    this.#runsMax = runsMax;
  }

  /** Whether another run would begin immediately. */
  get hasRoom(): boolean {
    return this.#runs < this.#runsMax;
  }

  /**
   * Decodes these samples when it is their turn. A separate config is allowed only with runsMax 1,
   * since all runs share the config.
   */
  add(samples: Int16Array, mode: RecognitionMode, config?: SherpaConfig): Run {
    const dueAtMs = performance.now() + delayMs[mode];
    const waiting = { dueAtMs, samples, config, result: Promise.withResolvers<LibraryResult>() };
    this.#waiting.add(waiting);
    this.#beginNext();
    return { result: waiting.result.promise, cancel: () => this.#waiting.delete(waiting) };
  }

  #beginNext(): void {
    if (!this.hasRoom || this.#waiting.size === 0) return;
    const next = Array.from(this.#waiting).reduce((first, each) =>
      each.dueAtMs < first.dueAtMs ? each : first,
    );
    this.#waiting.delete(next);
    this.#runs += 1;
    const result = this.#decode(next).finally(() => {
      this.#runs -= 1;
      this.#beginNext();
    });
    result.then(next.result.resolve, next.result.reject);
  }

  async #decode({ samples: spoken, config }: Waiting): Promise<LibraryResult> {
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
      return readLibraryResult(
        await this.#library.decodeOfflineStreamAsync(this.#recognizer, stream),
      );
    } finally {
      this.#underWay.delete(stream);
    }
  }
}
