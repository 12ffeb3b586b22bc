import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FrontEnd } from "./front-end.ts";
import { Search } from "./search.ts";
import {
  englishModel,
  type Pointer,
  type SphinxLibrary,
  type ViewFloats,
} from "./sphinx-library.ts";

/** Searches kept for reuse beyond those in use; one takes about 70 MB. */
const idleMax = 4;

/**
 * Weight of the language model against the sound. Read into the model itself, so all who share it share the weight; 6.0 to 8.5
 * hear equally well (bench/RESULTS.md).
 */
const languageWeight = "6.5";

/** The language model of all decoders of a process: 33 MB that each would have for itself. */
export class LanguageModel {
  readonly #library: SphinxLibrary;
  #model: Pointer | undefined;

  constructor(library: SphinxLibrary) {
    this.#library = library;
  }

  /** The model in C's memory, read when the first decoder is there to lend its table of logarithms. */
  of(config: Pointer, decoder: Pointer): Pointer {
    if (this.#model !== undefined) return this.#model;
    const logmath = this.#library.ps_get_logmath(decoder);
    const path = englishModel.language;
    const model = this.#library.ngram_model_read(config, path, 0, logmath);
    if (model === null) throw new Error(`PocketSphinx: ${path} cannot be read`);
    this.#model = model;
    return model;
  }

  close(): void {
    if (this.#model !== undefined) this.#library.ngram_model_free(this.#model);
    this.#model = undefined;
  }
}

/** Decoders of one setting. Making one takes 200 ms, so they are lent for an utterance and taken back. */
export class SearchPool {
  readonly #library: SphinxLibrary;
  readonly #viewFloats: ViewFloats;
  readonly #config: Pointer;
  readonly #idle: Search[] = [];
  readonly #languageModel: LanguageModel;
  #isClosed = false;

  /** `settings` are options of PocketSphinx over those that the model itself asks for. */
  constructor(
    parts: {
      readonly library: SphinxLibrary;
      readonly viewFloats: ViewFloats;
      readonly languageModel: LanguageModel;
    },
    settings: Readonly<Record<string, string>>,
  ) {
    const { library, viewFloats, languageModel } = parts;
    this.#library = library;
    this.#viewFloats = viewFloats;
    this.#languageModel = languageModel;
    this.#config = parseSettings(library, settings);
    this.#idle.push(this.#make());
  }

  /** A search with an utterance begun in it. Blocks for 200 ms when none is idle. */
  lend(): Search {
    const search = this.#idle.pop() ?? this.#make();
    search.begin();
    return search;
  }

  /** Takes back a search whose utterance has ended. */
  takeBack(search: Search): void {
    if (this.#isClosed || this.#idle.length >= idleMax) search.close();
    else this.#idle.push(search);
  }

  createFrontEnd(): FrontEnd {
    return new FrontEnd(this.#library, this.#viewFloats, this.#config);
  }

  close(): void {
    this.#isClosed = true;
    for (const search of this.#idle.splice(0)) search.close();
    this.#library.cmd_ln_free_r(this.#config);
  }

  #make(): Search {
    const decoder = this.#library.ps_init(this.#config);
    if (decoder === null) throw new Error("PocketSphinx: the model cannot be loaded");
    const model = this.#languageModel.of(this.#config, decoder);
    if (
      this.#library.ps_set_lm(decoder, "words", model) < 0 ||
      this.#library.ps_set_search(decoder, "words") < 0
    ) {
      throw new Error("PocketSphinx: the language model cannot be used");
    }
    return new Search(this.#library, this.#viewFloats, decoder);
  }
}

function parseSettings(
  library: SphinxLibrary,
  settings: Readonly<Record<string, string>>,
): Pointer {
  const values = Object.entries({
    "-hmm": englishModel.acoustic,
    "-dict": englishModel.dictionary,
    ...modelSettings(),
    // Read above and not again: the decoder would put the model's own mean over ours.
    "-featparams": "/dev/null",
    "-cmn": "none",
    // Every frame stays: our endpointing has cut the silence off, and times count frames.
    "-remove_silence": "no",
    "-lw": languageWeight,
    // Measured: the second, flat search makes it worse.
    "-fwdflat": "no",
    ...settings,
  }).flat();
  const config = library.cmd_ln_parse_r(null, library.ps_args(), values.length, values, 1);
  if (config === null) throw new Error("PocketSphinx: a setting was refused");
  return config;
}

/** What the acoustic model says of the features that it was trained on. */
function modelSettings(): Record<string, string> {
  const words = readFileSync(join(englishModel.acoustic, "feat.params"), "utf8").split(/\s+/);
  const all: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length; at += 2) all[words[at] ?? ""] = words[at + 1] ?? "";
  // -model is for the trainer.
  const { "-model": _model, "-cmninit": _mean, ...rest } = all;
  return rest;
}

/** The mean of average speech, as the acoustic model names it. */
export function modelCepstralMean(): Float64Array {
  const text = readFileSync(join(englishModel.acoustic, "feat.params"), "utf8");
  const values = /-cmninit\s+(\S+)/.exec(text)?.[1]?.split(",").map(Number) ?? [];
  return Float64Array.from(values);
}
