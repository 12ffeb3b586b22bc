/** The value of a label that stands for everything outside of its list. */
export const other = "_OTHER";

/** Returns a function that maps values of the list to themselves, and all others to `_OTHER`. */
export function closedList(values: readonly string[]): (value: string) => string {
  const known: ReadonlySet<string> = new Set(values);
  return (value) => (known.has(value) ? value : other);
}

/** The models that have a label of their own: operators may install any number of them. */
const modelsMax = 20;

/** The names of models as labels: the first 20 of this process, and `other` for all others. */
export class ModelLabels {
  readonly #known = new Set<string>();

  labelOf(model: string): string {
    if (this.#known.has(model)) return model;
    if (this.#known.size >= modelsMax) return "other";
    this.#known.add(model);
    return model;
  }
}
