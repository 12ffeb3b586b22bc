import { readFileSync } from "node:fs";
import { join } from "node:path";
import { englishModel, type Pointer, type SphinxLibrary } from "./sphinx-library.ts";

/**
 * The weight of the language model relative to the acoustic model. It is read into the model
 * itself, so all decoders share it. Values from 6.0 to 8.5 are equally accurate (bench/RESULTS.md).
 */
export const languageWeight = "6.5";

/**
 * Returns the settings of every decoder and its front end. `settings` are options of PocketSphinx
 * that override them.
 */
export function sphinxSettings(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({
    "-hmm": englishModel.acoustic,
    "-dict": englishModel.dictionary,
    ...modelSettings(),
    // The features were read above. If the decoder read them again, it would replace this project's
    // mean with that of the model.
    "-featparams": "/dev/null",
    "-cmn": "none",
    // No frame is dropped: the endpointing of this project has removed the silence, and times are
    // counted in frames.
    "-remove_silence": "no",
    "-lw": languageWeight,
    // Measured: the second, flat search is less accurate.
    "-fwdflat": "no",
    ...settings,
  }).flat();
}

/**
 * Creates the settings in C's memory, to be freed by cmd_ln_free_r. Throws an Error if a setting is
 * rejected.
 */
export function parseSettings(library: SphinxLibrary, settings: readonly string[]): Pointer {
  const config = library.cmd_ln_parse_r(null, library.ps_args(), settings.length, settings, 1);
  if (config === null) throw new Error("PocketSphinx: a setting was rejected");
  return config;
}

/** Reads the features on which the acoustic model was trained, from the model's own file. */
function modelSettings(): Record<string, string> {
  const words = readFileSync(join(englishModel.acoustic, "feat.params"), "utf8").split(/\s+/);
  const all: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length; at += 2) all[words[at] ?? ""] = words[at + 1] ?? "";
  // -model is for the trainer; the mean is supplied by this project.
  const { "-model": _model, "-cmninit": _mean, ...rest } = all;
  return rest;
}
