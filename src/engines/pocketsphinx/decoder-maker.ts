import type { Hint } from "../protocol/engine.ts";
import { EnglishSounds } from "./english-sounds.ts";
import { hintLanguage, type HintLanguage } from "./hint-language.ts";
import {
  englishModel,
  type MemoryFile,
  type Pointer,
  type SlowFunction,
  type SphinxLibrary,
} from "./sphinx-library.ts";
import { parseSettings } from "./sphinx-settings.ts";

/** The name of the only search of a decoder. */
const searchName = "words";
/** The type of language models in the ARPA format. */
const arpaType = 1;
/** The weights of the models of the language and of the hints, which apply to probabilities. */
const setWeights = [1, 1] as const;

/** What a decoder is made of. */
export interface DecoderForm {
  /** The settings of PocketSphinx. */
  readonly settings: readonly string[];
  readonly hints: readonly Hint[];
}

interface DecoderRequest {
  readonly form: DecoderForm;
  readonly resolve: (decoder: Pointer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Creates decoders that share the language model; otherwise each would have its own copy of 33 MB.
 * The library's reference count has no lock, so only one decoder is created at a time, and none is
 * freed meanwhile.
 */
export class DecoderMaker {
  readonly #library: SphinxLibrary;
  readonly #memoryFile: (text: string) => MemoryFile;
  #languageModel: Pointer | undefined;
  #sounds: EnglishSounds | undefined;
  /** The decoders that are still to be created. */
  readonly #requests: DecoderRequest[] = [];
  #isMaking = false;
  /** The decoders to free when none is being created. */
  readonly #toFree: Pointer[] = [];
  #isClosed = false;

  constructor(parts: {
    readonly library: SphinxLibrary;
    readonly memoryFile: (text: string) => MemoryFile;
  }) {
    this.#library = parts.library;
    this.#memoryFile = parts.memoryFile;
  }

  /**
   * Creates a decoder without hints, which blocks the thread for 250 ms. Throws an Error if the
   * model cannot be loaded.
   */
  makeNow(settings: readonly string[]): Pointer {
    if (this.#isMaking) throw new Error("PocketSphinx: a decoder is being made");
    const config = parseSettings(this.#library, settings);
    const decoder = checked(this.#library.ps_init(config));
    this.#library.cmd_ln_free_r(config);
    const model = this.#modelFor(decoder, settings);
    this.#useModel(decoder, this.#library.ps_set_lm(decoder, searchName, model));
    return decoder;
  }

  /**
   * Creates a decoder on another thread, after those that were requested before. Decoders without
   * hints are created first, because other streams may wait for them.
   */
  make(form: DecoderForm): Promise<Pointer> {
    const { promise, resolve, reject } = Promise.withResolvers<Pointer>();
    this.#requests.push({ form, resolve, reject });
    if (!this.#isMaking) void this.#makeAll();
    return promise;
  }

  async #makeAll(): Promise<void> {
    while (this.#requests.length > 0) {
      const plain = this.#requests.findIndex(({ form }) => form.hints.length === 0);
      const [request] = this.#requests.splice(Math.max(0, plain), 1);
      if (!request) return;
      this.#isMaking = true;
      try {
        request.resolve(await this.#makeOnThread(request.form));
      } catch (error) {
        request.reject(error);
      }
      this.#isMaking = false;
      this.#freeLeft();
    }
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

  async #makeOnThread({ settings, hints }: DecoderForm): Promise<Pointer> {
    const config = parseSettings(this.#library, settings);
    try {
      const decoder = checked(await onThread(this.#library.ps_init, config));
      const base = this.#modelFor(decoder, settings);
      const own = hints.length > 0 ? this.#addHints(decoder, config, hints) : undefined;
      const model = own === undefined ? base : await this.#join([base, own], config);
      this.#useModel(decoder, await onThread(this.#library.ps_set_lm, decoder, searchName, model));
      // The decoder has its own reference.
      if (model !== base) this.#library.ngram_model_free(model);
      return decoder;
    } finally {
      this.#library.cmd_ln_free_r(config);
    }
  }

  /**
   * Adds the words of hints to the dictionary of a decoder, and returns a language model of the
   * phrases; undefined if none can be pronounced.
   */
  #addHints(decoder: Pointer, config: Pointer, hints: readonly Hint[]): Pointer | undefined {
    const { pronunciations, arpa } = this.#languageOf(decoder, hints);
    const library = this.#library;
    if (arpa === undefined) return undefined;
    for (const [word, phones] of pronunciations) {
      let name = word;
      let known = library.ps_lookup_word(decoder, name);
      for (let number = 2; known !== null && known !== phones; number++) {
        name = `${word}(${number})`;
        known = library.ps_lookup_word(decoder, name);
      }
      if (known !== null || library.ps_add_word(decoder, name, phones, 0) >= 0) continue;
      throw new Error("PocketSphinx: the word of a hint was rejected");
    }
    using file = this.#memoryFile(arpa);
    const logmath = library.ps_get_logmath(decoder);
    const model = library.ngram_model_read(config, file.path, arpaType, logmath);
    if (model === null) throw new Error("PocketSphinx: the language of hints cannot be read");
    return model;
  }

  #languageOf(decoder: Pointer, hints: readonly Hint[]): HintLanguage {
    const library = this.#library;
    const model = this.#languageModel;
    const sounds = (this.#sounds ??= new EnglishSounds());
    const lookUp = (word: string): string | null =>
      library.ps_lookup_word(decoder, word.toLowerCase());
    return hintLanguage(hints, {
      isInDictionary: (word) => lookUp(word) !== null,
      isInModel: (word) =>
        model !== undefined && library.ngram_wid(model, word) !== library.ngram_unknown_wid(model),
      soundsOf: (word) => {
        const known = lookUp(word);
        return known === null ? sounds.soundsOf(word) : [known];
      },
    });
  }

  /**
   * Joins the model of the language with that of hints: the probability of a word is the sum of
   * both, so that hints make no other word less likely. The shared model is not changed.
   */
  async #join(models: readonly [base: Pointer, own: Pointer], config: Pointer): Promise<Pointer> {
    const library = this.#library;
    const weights = Float32Array.from(setWeights);
    const names = ["language", "hints"];
    const init = library.ngram_model_set_init;
    const set = await onThread(init, config, models, names, weights, models.length);
    // The set has its own references.
    library.ngram_model_free(models[1]);
    if (set === null) throw new Error("PocketSphinx: the language of hints cannot be used");
    return library.ngram_model_set_interp(set, null, null);
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
    if (this.#isMaking) return;
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
