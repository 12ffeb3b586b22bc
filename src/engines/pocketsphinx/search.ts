import type { EngineWord, Hypothesis } from "../protocol/engine.ts";
import { cepstrumLength, frameMs } from "./cepstra.ts";
import type { Pointer, SphinxLibrary, ViewFloats } from "./sphinx-library.ts";

/** The number of frames of context that a feature needs on either side. */
const contextFrames = 3;
/** The number of frames in the warm-up, which exceeds the context of the first feature. */
const warmUpFrames = 10;
/**
 * The maximum number of entries of the n-best list that are read to find distinct readings: at
 * least, and for each reading. The list has duplicates.
 */
const nbestReadMax = { least: 100, perReading: 10 };

/**
 * One PocketSphinx decoder with its search, which receives cepstra and the mean to subtract. It
 * keeps no state from one utterance to the next, so it may serve a different session each time.
 */
export class Search {
  readonly decoder: Pointer;
  readonly #library: SphinxLibrary;
  /**
   * A single frame in C's memory. If this version of the library receives several frames at a time,
   * it overwrites the first with the last.
   */
  readonly #block: Pointer;
  readonly #frame: Float32Array;
  #frames = 0;

  constructor(library: SphinxLibrary, viewFloats: ViewFloats, decoder: Pointer) {
    this.#library = library;
    this.decoder = decoder;
    this.#block = library.__ckd_calloc_2d__(1, cepstrumLength, 4, "search.ts", 0);
    this.#frame = viewFloats(this.#block, cepstrumLength);
  }

  /**
   * Processes the first frames of the decoder. A decoder scores its very first frames slightly
   * differently from all later ones, so they are used up here.
   */
  warmUp(): void {
    const nothing = new Float32Array(cepstrumLength);
    const mean = new Float64Array(cepstrumLength);
    this.begin();
    for (let frame = 0; frame < warmUpFrames; frame++) this.accept(nothing, mean);
    this.end();
  }

  begin(): void {
    this.#library.ps_start_stream(this.decoder);
    if (this.#library.ps_start_utt(this.decoder) < 0) {
      throw new Error("PocketSphinx: the utterance cannot begin");
    }
    this.#frames = 0;
  }

  accept(frame: Float32Array, mean: Float64Array): void {
    for (let index = 0; index < cepstrumLength; index++) {
      this.#frame[index] = (frame[index] ?? 0) - (mean[index] ?? 0);
    }
    this.#feed();
    this.#frames += 1;
  }

  #feed(): void {
    if (this.#library.ps_process_cep(this.decoder, this.#block, 1, 0, 0) < 0) {
      throw new Error("PocketSphinx: a frame was rejected");
    }
  }

  /** Returns the text so far, without searching for the best path. */
  partialText(): string {
    return this.#library.ps_get_hyp(this.decoder, [0]) ?? "";
  }

  /** Ends the utterance, after which readings() may be called. */
  end(): void {
    // The last frames have no context after them, so the last frame is repeated.
    if (this.#frames > 0) for (let count = 0; count < contextFrames; count++) this.#feed();
    this.#library.ps_end_utt(this.decoder);
  }

  /** Returns the best reading so far, without confidence until the utterance has ended. */
  best(withConfidence: boolean): Hypothesis | undefined {
    const words = this.#words(this.#library.ps_seg_iter(this.decoder), withConfidence);
    return reading(words);
  }

  /** Returns distinct readings, best first. */
  readings(countMax: number): readonly Hypothesis[] {
    const best = this.best(true);
    if (!best) return [];
    const found = new Map([[best.text, best]]);
    if (countMax === 1) return [best];
    const readMax = Math.max(nbestReadMax.least, countMax * nbestReadMax.perReading);
    let nbest = this.#library.ps_nbest(this.decoder);
    for (let read = 1; nbest !== null; read++) {
      const other = reading(this.#words(this.#library.ps_nbest_seg(nbest), false));
      if (other && !found.has(other.text)) found.set(other.text, other);
      if (found.size >= countMax || read >= readMax) {
        // An iterator frees itself only when its end is reached.
        this.#library.ps_nbest_free(nbest);
        break;
      }
      nbest = this.#library.ps_nbest_next(nbest);
    }
    return [...found.values()];
  }

  #words(first: Pointer | null, withConfidence: boolean): EngineWord[] {
    const words: EngineWord[] = [];
    const logmath = this.#library.ps_get_logmath(this.decoder);
    const [start, end]: [[number], [number]] = [[0], [0]];
    for (let at = first; at !== null; at = this.#library.ps_seg_next(at)) {
      const text = spoken(this.#library.ps_seg_word(at));
      if (text === undefined) continue;
      this.#library.ps_seg_frames(at, start, end);
      const times = {
        startMs: start[0] * frameMs,
        endMs: Math.min(this.#frames, end[0] + 1) * frameMs,
      };
      if (!withConfidence) {
        words.push({ text, ...times });
        continue;
      }
      const logProbability = this.#library.ps_seg_prob(at, [0], [0], [0]);
      const probability = this.#library.logmath_exp(logmath, logProbability);
      words.push({ text, ...times, confidence: Math.min(1, probability) });
    }
    return words;
  }

  /** Frees everything except the decoder, which DecoderMaker frees. */
  close(): void {
    this.#library.fe_free_2d(this.#block);
  }
}

/**
 * Returns the written form of a word. `either(2)` is a pronunciation of "either"; `<sil>`,
 * `[NOISE]` and `++UM++` are not words.
 */
function spoken(word: string): string | undefined {
  return /^[<[+]/.test(word) ? undefined : word.replace(/\(\d+\)$/, "");
}

function reading(words: readonly EngineWord[]): Hypothesis | undefined {
  if (words.length === 0) return undefined;
  const text = words.map((word) => word.text).join(" ");
  const confidences = words.flatMap(({ confidence }) => confidence ?? []);
  if (confidences.length < words.length) return { text, words };
  const sum = confidences.reduce((total, confidence) => total + confidence, 0);
  return { text, confidence: sum / confidences.length, words };
}
