/** The fields of a form or of a query, in order; a name can occur several times. */
export class FormFields {
  readonly #entries: readonly (readonly [name: string, value: string])[];

  constructor(entries: Iterable<readonly [string, string]>) {
    this.#entries = [...entries];
  }

  get entries(): readonly (readonly [name: string, value: string])[] {
    return this.#entries;
  }

  /** Returns the last value of a field, or "" without one. */
  one(name: string): string {
    return this.all(name).at(-1) ?? "";
  }

  /** Returns all values of a field. Clients send lists as `name` or as `name[]`. */
  all(name: string): readonly string[] {
    return this.#entries
      .filter(([each]) => each === name || each === `${name}[]`)
      .map(([, value]) => value);
  }
}

/** Returns whether a client means yes: the spellings of JSON, Python, YAML and shells. */
export function isYes(value: string): boolean {
  return /^(?:true|1|yes|on)$/i.test(value.trim());
}
