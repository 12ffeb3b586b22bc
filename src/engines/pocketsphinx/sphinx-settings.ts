import { readFileSync } from "node:fs";
import { join } from "node:path";
import { englishModel, type Pointer, type SphinxLibrary } from "./sphinx-library.ts";

/**
 * Weight of the language model against the sound. Read into the model itself, so all who share it
 * share the weight; 6.0 to 8.5 hear equally well (bench/RESULTS.md).
 */
export const languageWeight = "6.5";

/**
 * What every decoder here is set to, and its front end; `settings` are options of PocketSphinx over
 * those.
 */
export function sphinxSettings(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries({
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
}

/**
 * The settings as C holds them, to be freed by cmd_ln_free_r. Throws an Error when one is refused.
 */
export function parseSettings(library: SphinxLibrary, settings: readonly string[]): Pointer {
  const config = library.cmd_ln_parse_r(null, library.ps_args(), settings.length, settings, 1);
  if (config === null) throw new Error("PocketSphinx: a setting was refused");
  return config;
}

/** What the acoustic model says of the features that it was trained on. */
function modelSettings(): Record<string, string> {
  const words = readFileSync(join(englishModel.acoustic, "feat.params"), "utf8").split(/\s+/);
  const all: Record<string, string> = {};
  for (let at = 0; at + 1 < words.length; at += 2) all[words[at] ?? ""] = words[at + 1] ?? "";
  // -model is for the trainer; the mean is ours.
  const { "-model": _model, "-cmninit": _mean, ...rest } = all;
  return rest;
}
