import { type Cepstra, cepstrumLength } from "./cepstra.ts";
import { englishModel, type Pointer, type SphinxLibrary, type Views } from "./sphinx-library.ts";
import { parseSettings, sphinxSettings } from "./sphinx-settings.ts";

/** The number of states of a phone. */
export const phoneStates = 3;
/** The number of frames of context that a feature needs on either side. */
const contextFrames = 3;
/** The base of PocketSphinx's logarithms, and the bits by which its scores are shifted. */
const logBase = 1.0001;
const scoreShift = 10;
/** A unit of a score, as a negative natural logarithm. */
const scoreUnit = 2 ** scoreShift * Math.log(logBase);
/**
 * The states that are scored are coarser than those of recognition, since the words are known: the
 * best two distributions of each, which are chosen for every second frame.
 */
const settings = { "-compallsen": "yes", "-topn": "2", "-ds": "2" };
/** The files of the model, by the names of their settings. */
const files = {
  _mdef: "mdef",
  _mean: "means",
  _var: "variances",
  _tmat: "transition_matrices",
  _sendump: "sendump",
} as const;
const absentFiles = ["_mixw", "_lda", "_senmgau", "_featparams"] as const;

/**
 * PocketSphinx's acoustic model without its search: how well the states of the phones fit each
 * frame. Only phones without context are used, since they suffice to find known words.
 */
export class AcousticModel {
  readonly #library: SphinxLibrary;
  readonly #views: Views;
  readonly #model: Pointer;
  readonly #definitions: Pointer;
  readonly #block: Pointer;
  readonly #frame: Float32Array;
  /** Resolves when the window that is being scored has ended. */
  #inUse: PromiseWithResolvers<void> | undefined;

  /** Throws an Error if the model cannot be loaded. */
  constructor(library: SphinxLibrary, views: Views) {
    this.#library = library;
    this.#views = views;
    const config = parseSettings(library, sphinxSettings(settings));
    for (const [name, file] of Object.entries(files)) {
      library.cmd_ln_set_str_extra_r(config, name, `${englishModel.acoustic}/${file}`);
    }
    for (const name of absentFiles) library.cmd_ln_set_str_extra_r(config, name, null);
    const logmath = library.logmath_init(logBase, 0, 1);
    const model = library.acmod_init(config, logmath, null, null);
    const definitions = library.bin_mdef_read(config, `${englishModel.acoustic}/${files._mdef}`);
    if (model === null || definitions === null) {
      throw new Error("PocketSphinx: the acoustic model cannot be loaded");
    }
    this.#model = model;
    this.#definitions = definitions;
    this.#block = library.__ckd_calloc_2d__(1, cepstrumLength, 4, "acoustic-model.ts", 0);
    this.#frame = views.viewFloats(this.#block, cepstrumLength);
  }

  /** Returns the number of the first state of a phone; undefined if the model has no such phone. */
  firstState(phone: string): number | undefined {
    const id = this.#library.bin_mdef_ciphone_id(this.#definitions, phone);
    return id < 0 ? undefined : phoneStates * id;
  }

  /**
   * Begins a window when no other one is being scored. Returns a function that ends it.
   */
  *begin(): Generator<void | Promise<void>, () => void, void> {
    while (this.#inUse) yield this.#inUse.promise;
    const inUse = Promise.withResolvers<void>();
    this.#inUse = inUse;
    this.#library.acmod_start_utt(this.#model);
    return () => {
      this.#library.acmod_end_utt(this.#model);
      this.#inUse = undefined;
      inUse.resolve();
    };
  }

  /**
   * Writes the negative natural logarithms of the first states for every frame from `from` to `to`,
   * relative to the best of all states. Frames are scored in order, from the first.
   */
  score(
    cepstra: Cepstra,
    mean: Float64Array,
    to: { readonly logs: Float32Array; readonly stateCount: number },
    { frame, last }: { readonly frame: number; readonly last: number },
  ): void {
    // The last frames have no context after them, so the last frame is repeated.
    const count = frame === last ? 1 + contextFrames : 1;
    const values = cepstra.frame(frame);
    for (let index = 0; index < cepstrumLength; index++) {
      this.#frame[index] = (values[index] ?? 0) - (mean[index] ?? 0);
    }
    for (let fed = 0; fed < count; fed++) {
      this.#library.acmod_process_cep(this.#model, [this.#block], [1], 0);
      const scored = frame + fed - contextFrames;
      if (scored < 0) continue;
      const scores = this.#library.acmod_score(this.#model, [scored]);
      if (scores === null) throw new Error(`PocketSphinx: frame ${scored} was not scored`);
      const states = this.#views.viewSamples(scores, to.stateCount);
      for (let state = 0; state < to.stateCount; state++) {
        to.logs[scored * to.stateCount + state] = -scoreUnit * (states[state] ?? 0);
      }
      this.#library.acmod_advance(this.#model);
    }
  }

  close(): void {
    this.#library.acmod_free(this.#model);
    this.#library.bin_mdef_free(this.#definitions);
    this.#library.fe_free_2d(this.#block);
  }
}
