import { EnergyVoiceActivity } from "../../audio/voice-activity.ts";
import type { Decoder, DecoderOptions, Engine, Hypothesis } from "../engine.ts";
import { Cepstra } from "./cepstra.ts";
import { RunningMean, utteranceMean } from "./cepstral-mean.ts";
import type { FrontEnd } from "./front-end.ts";
import type { Search } from "./search.ts";
import { LanguageModel, modelCepstralMean, SearchPool } from "./search-pool.ts";
import { checkEnglishModel, loadSphinxLibrary } from "./sphinx-library.ts";

/** Fast enough for several streams a core: what is shown while somebody speaks, and again for the final at its end. */
const liveSettings = { "-maxhmmpf": "10000" };
/** The whole utterance is there, and its caller waits for it: wider beams. */
const wholeSettings = { "-beam": "1e-60", "-pbeam": "1e-60", "-wbeam": "1e-40" };
/** Frames searched between two yields: 100 ms. */
const sliceFrames = 10;

/** PocketSphinx 0.8 with Debian's model of American English. Throws an Error that names what is not installed. */
export async function openPocketsphinx(): Promise<Engine> {
  checkEnglishModel();
  const { library, viewFloats } = await loadSphinxLibrary();
  const parts = { library, viewFloats, languageModel: new LanguageModel(library) };
  const live = new SearchPool(parts, liveSettings);
  const whole = new SearchPool(parts, wholeSettings);
  const seed = modelCepstralMean();
  return {
    name: "pocketsphinx",
    languageCodes: ["en-US"],
    utteranceMsMax: 20_000,
    createDecoder: (options) =>
      new PocketsphinxDecoder({
        ...options,
        frontEnd: whole.createFrontEnd(),
        whole: options.mode === "live" ? live : whole,
        seed,
      }),
    createVoiceActivity: () => new EnergyVoiceActivity(),
    close() {
      live.close();
      whole.close();
      parts.languageModel.close();
    },
  };
}

interface Parts extends DecoderOptions {
  readonly frontEnd: FrontEnd;
  /** Makes the finals. */
  readonly whole: SearchPool;
  readonly seed: Float64Array;
}

/**
 * Two passes: in live mode one goes along with the speech, with the mean heard so far; in every mode one goes over the whole
 * utterance, with its own mean. Only the second makes finals.
 */
class PocketsphinxDecoder implements Decoder {
  readonly #parts: Parts;
  readonly #cepstra = new Cepstra();
  /** Of the session so far, at first of average speech. */
  #mean: RunningMean;
  /** The search that goes along, within an utterance. */
  #along: Search | undefined;
  #searched = 0;
  #last: { readonly text: string; readonly reading: Hypothesis | undefined } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#mean = new RunningMean(parts.seed);
  }

  begin(): void {
    this.#cepstra.clear();
    this.#searched = 0;
    this.#last = undefined;
    this.#parts.frontEnd.begin();
    this.#along = this.#parts.mode === "live" ? this.#parts.whole.lend() : undefined;
  }

  accept(samples: Int16Array): void {
    this.#parts.frontEnd.accept(samples, this.#cepstra);
    if (!this.#along) return;
    for (; this.#searched < this.#cepstra.count; this.#searched++) {
      const frame = this.#cepstra.frame(this.#searched);
      this.#mean.add(frame);
      this.#along.accept(frame, this.#mean.value());
    }
  }

  partial(): Hypothesis | undefined {
    if (!this.#along) return undefined;
    const text = this.#along.partialText();
    if (text !== this.#last?.text) this.#last = { text, reading: this.#along.best(false) };
    return this.#last.reading;
  }

  *end(): Generator<void, readonly Hypothesis[], void> {
    this.#endAlong();
    this.#parts.frontEnd.end(this.#cepstra);
    if (this.#cepstra.count === 0) return [];
    const mean = utteranceMean(this.#cepstra);
    this.#mean = new RunningMean(mean);
    const search = this.#parts.whole.lend();
    let isEnded = false;
    try {
      for (let at = 0; at < this.#cepstra.count; at++) {
        search.accept(this.#cepstra.frame(at), mean);
        if (at % sliceFrames === sliceFrames - 1) yield;
      }
      search.end();
      isEnded = true;
      return search.readings(this.#parts.alternativesMax);
    } finally {
      if (!isEnded) search.end();
      this.#parts.whole.takeBack(search);
    }
  }

  #endAlong(): void {
    if (!this.#along) return;
    this.#along.end();
    this.#parts.whole.takeBack(this.#along);
    this.#along = undefined;
  }

  close(): void {
    this.#endAlong();
    this.#parts.frontEnd.close();
  }
}
