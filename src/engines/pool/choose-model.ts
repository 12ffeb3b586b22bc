import type { ModelChoice } from "../../models/model-choice.ts";
import type { RecognitionMode } from "../protocol/engine.ts";

/** The properties that determine which model serves a language and use. */
export interface ChoosableModel {
  readonly name: string;
  readonly languageCodes: readonly string[];
  readonly uses: readonly RecognitionMode[];
  readonly preference: number;
}

/**
 * Returns the model that serves a use of a language: the chosen model if it is installed and
 * supports the language, otherwise the model with the highest preference among those meant for this
 * use; undefined if there is none.
 */
export function chooseModel<Model extends ChoosableModel>(
  models: readonly Model[],
  { languageCode, mode }: { readonly languageCode: string; readonly mode: RecognitionMode },
  choice: ModelChoice,
): Model | undefined {
  const able = models.filter(({ languageCodes }) => languageCodes.includes(languageCode));
  const wanted = choice
    .filter((each) => each.languageCode === languageCode && (each.use ?? mode) === mode)
    // A choice for one use takes precedence over a choice for all uses.
    .toSorted((a, b) => Number(a.use === undefined) - Number(b.use === undefined));
  for (const { model } of wanted) {
    const found = able.find(({ name }) => name === model);
    if (found) return found;
  }
  return able
    .filter(({ uses }) => uses.includes(mode))
    .toSorted((a, b) => b.preference - a.preference || (a.name < b.name ? -1 : 1))
    .at(0);
}

/** Returns the languages that can be recognized in this mode, sorted. */
export function servedLanguages(
  models: readonly ChoosableModel[],
  mode: RecognitionMode,
  choice: ModelChoice,
): readonly string[] {
  const codes = new Set(models.flatMap(({ languageCodes }) => languageCodes));
  return [...codes]
    .filter((languageCode) => chooseModel(models, { languageCode, mode }, choice))
    .toSorted();
}

/** Returns the choices that no installed model meets, as messages for the operator. */
export function unmetChoices(models: readonly ChoosableModel[], choice: ModelChoice): string[] {
  return choice.flatMap(({ languageCode, model }) => {
    const found = models.find(({ name }) => name === model);
    if (!found) return [`${model} is not installed`];
    if (found.languageCodes.includes(languageCode)) return [];
    return [`${model} does not recognize ${languageCode}`];
  });
}
