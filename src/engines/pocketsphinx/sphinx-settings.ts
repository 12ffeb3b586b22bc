import { readFileSync } from "node:fs";
import { join } from "node:path";
import { englishModel, type Pointer, type SphinxLibrary } from "./sphinx-library.ts";

/**
 * Weight of the language model against the acoustic model. It is read into the model itself, so all
 * decoders share it; 6.0 to 8.5 are equally accurate (bench/RESULTS.md).
 */
export const languageWeight = "6.5";

/**
 * The settings of every decoder and its front end; `settings` are options of PocketSphinx that
 * override them.
 */
export function sphinxSettings(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({
    "-hmm": englishModel.acoustic,
    "-dict": englishModel.dictionary,
    ...modelSettings(),
    // The features were read above. If the decoder read them again, it would replace our mean with
    // that of the model.
    "-featparams": "/dev/null",
    "-cmn": "none",
    // No frame is dropped: our endpointing has removed the silence, and times count frames.
    "-remove_silence": "no",
    "-lw": languageWeight,
    // Measured: the second, flat search is less accurate.
    "-fwdflat": "no",
    ...settings,
  }).flat();
}

/**
 * The settings in C's memory, to be freed by cmd_ln_free_r. Throws an Error when one is rejected.
 */
export function parseSettings(library: SphinxLibrary, settings: readonly string[]): Pointer {
  const config = library.cmd_ln_parse_r(null, library.ps_args(), settings.length, settings, 1);
  if (config === null) throw new Error("PocketSphinx: a setting was rejected");
  return config;
}

/** The features that the acoustic model was trained on, from its own file. */
function modelSettings(): Record<string, string> {
  const words = readFileSync(join(englishModel.acoustic, "feat.params"), "utf8").split(/\s+/);
  const all: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length; at += 2) all[words[at] ?? ""] = words[at + 1] ?? "";
  // -model is for the trainer; the mean is ours.
  const { "-model": _model, "-cmninit": _mean, ...rest } = all;
  return rest;
}
