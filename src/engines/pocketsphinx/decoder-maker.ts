import {
  englishModel,
  type Pointer,
  type SlowFunction,
  type SphinxLibrary,
} from "./sphinx-library.ts";
import { parseSettings } from "./sphinx-settings.ts";

/** The name of the only search of a decoder. */
const searchName = "words";

/**
 * Creates decoders that share the language model; otherwise each would have its own copy of 33 MB.
 * The library's reference count has no lock, so only one decoder is created at a time, and none is
 * freed meanwhile.
 */
export class DecoderMaker {
  readonly #library: SphinxLibrary;
  #languageModel: Pointer | undefined;
  /** Resolves when the requested decoders have been created. */
  #making: Promise<unknown> = Promise.resolve();
  #makingCount = 0;
  /** The decoders to free when none is being created. */
  readonly #toFree: Pointer[] = [];
  #isClosed = false;

  constructor(library: SphinxLibrary) {
    this.#library = library;
  }

  /**
   * Creates a decoder, which blocks the thread for 250 ms. Throws an Error if the model cannot be
   * loaded.
   */
  makeNow(settings: readonly string[]): Pointer {
    if (this.#makingCount > 0) throw new Error("PocketSphinx: a decoder is being made");
    const config = parseSettings(this.#library, settings);
    const decoder = checked(this.#library.ps_init(config));
    this.#library.cmd_ln_free_r(config);
    const model = this.#modelFor(decoder, settings);
    this.#useModel(decoder, this.#library.ps_set_lm(decoder, searchName, model));
    return decoder;
  }

  /** Creates a decoder on its own thread, after the decoders that were requested before. */
  make(settings: readonly string[]): Promise<Pointer> {
    this.#makingCount += 1;
    const made = this.#making.then(() => this.#makeOnThread(settings));
    this.#making = made
      .catch(() => {})
      .finally(() => {
        this.#makingCount -= 1;
        this.#freeLeft();
      });
    return made;
  }

  /** Frees the memory of a decoder. */
  free(decoder: Pointer): void {
    this.#toFree.push(decoder);
    this.#freeLeft();
  }

  /** Frees the language model as soon as no decoder is being created. */
  close(): void {
    this.#isClosed = true;
    this.#freeLeft();
  }

  async #makeOnThread(settings: readonly string[]): Promise<Pointer> {
    const config = parseSettings(this.#library, settings);
    const decoder = checked(await onThread(this.#library.ps_init, config));
    this.#library.cmd_ln_free_r(config);
    const model = this.#modelFor(decoder, settings);
    this.#useModel(decoder, await onThread(this.#library.ps_set_lm, decoder, searchName, model));
    return decoder;
  }

  /**
   * Returns the language model in C's memory. It is read when the first decoder is created, because
   * reading it requires that decoder's log table.
   */
  #modelFor(decoder: Pointer, settings: readonly string[]): Pointer {
    if (this.#languageModel !== undefined) return this.#languageModel;
    const logmath = this.#library.ps_get_logmath(decoder);
    const path = englishModel.language;
    const config = parseSettings(this.#library, settings);
    const model = this.#library.ngram_model_read(config, path, 0, logmath);
    this.#library.cmd_ln_free_r(config);
    if (model === null) throw new Error(`PocketSphinx: ${path} cannot be read`);
    this.#languageModel = model;
    return model;
  }

  #useModel(decoder: Pointer, answer: number): void {
    if (answer >= 0 && this.#library.ps_set_search(decoder, searchName) >= 0) return;
    throw new Error("PocketSphinx: the language model cannot be used");
  }

  #freeLeft(): void {
    if (this.#makingCount > 0) return;
    for (const decoder of this.#toFree.splice(0)) this.#library.ps_free(decoder);
    if (!this.#isClosed || this.#languageModel === undefined) return;
    this.#library.ngram_model_free(this.#languageModel);
    this.#languageModel = undefined;
  }
}

function checked(decoder: Pointer | null): Pointer {
  if (decoder === null) throw new Error("PocketSphinx: the model cannot be loaded");
  return decoder;
}

function onThread<Arguments extends readonly unknown[], Result>(
  call: SlowFunction<Arguments, Result>,
  ...values: Arguments
): Promise<Result> {
  return new Promise((resolve, reject) => {
    call.async(...values, (error, result) => {
      if (error instanceof Error) reject(error);
      else resolve(result);
    });
  });
}
