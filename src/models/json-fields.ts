/**
 * Reads the fields of a JSON object one by one, and collects their problems. A field with a problem
 * gets a harmless value.
 */
export class JsonFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #problems: string[];

  constructor(value: unknown, problems: string[] = [], path = "") {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    this.#values = isObject ? { ...value } : {};
    this.#path = path;
    this.#problems = problems;
    if (!isObject) problems.push(`${path || "it"} must be a JSON object`);
  }

  /** All problems so far, with the paths of the affected fields. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  get names(): readonly string[] {
    return Object.keys(this.#values);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name) && this.#values[name] !== undefined;
  }

  /**
   * Reads text without control characters, because terminals display text from untrusted sources.
   */
  text(name: string, pattern = /^(?=\s*\S)\P{Cc}+$/u): string {
    const value = this.#own(name);
    if (typeof value === "string" && pattern.test(value)) return value;
    this.#rejectValue(name, value, `text that matches ${pattern.source}`);
    return "";
  }

  oneOf<T extends string>(name: string, known: readonly [T, ...T[]] | readonly T[]): T | undefined {
    const value = this.#own(name);
    const found = known.find((each) => each === value);
    if (found === undefined) {
      this.#rejectValue(name, value, `one of ${known.join(", ")}`);
    }
    return found;
  }

  /** Reads a number within bounds. The number is required if there is no fallback. */
  number(name: string, bounds: { min: number; max: number; fallback?: number }): number {
    const value = this.#own(name);
    const { min, max, fallback } = bounds;
    if (value === undefined && fallback !== undefined) return fallback;
    if (typeof value === "number" && value >= min && value <= max) return value;
    this.#rejectValue(name, value, `a number from ${min} to ${max}`);
    return min;
  }

  /** Reads a list of texts; empty if absent. */
  texts(name: string, pattern: RegExp): readonly string[] {
    const value = this.#own(name) ?? [];
    const isList = Array.isArray(value);
    const texts = (isList ? value : []).filter((each) => typeof each === "string");
    const bad = (isList ? value : [value]).find(
      (each) => typeof each !== "string" || !pattern.test(each),
    );
    if (bad !== undefined) {
      this.reject(name, `has ${shortJson(bad)}; each text must match ${pattern.source}`);
    }
    return texts;
  }

  /** Reads each value of an object by its name; empty if absent. */
  record<T>(name: string, read: (fields: JsonFields) => T): Readonly<Record<string, T>> {
    if (!this.has(name)) return {};
    const fields = this.object(name);
    return Object.fromEntries(fields.names.map((each) => [each, read(fields.object(each))]));
  }

  /** Reads each object of a list; empty if absent. */
  list<T>(name: string, read: (fields: JsonFields) => T): readonly T[] {
    const value = this.#own(name) ?? [];
    if (!Array.isArray(value)) {
      this.reject(name, "must be a list");
      return [];
    }
    return value.map((each, index) =>
      read(new JsonFields(each, this.#problems, this.#pathOf(`${name}[${index}]`))),
    );
  }

  object(name: string): JsonFields {
    return new JsonFields(this.#own(name), this.#problems, this.#pathOf(name));
  }

  /** Reads texts, numbers and booleans by name; empty if absent. */
  scalars(name: string): Readonly<Record<string, string | number | boolean>> {
    if (!this.has(name)) return {};
    const fields = this.object(name);
    const entries = fields.names.flatMap((each) => {
      const value = fields.#own(each);
      const isScalar =
        typeof value === "string" || typeof value === "number" || typeof value === "boolean";
      if (isScalar) return [[each, value] as const];
      fields.reject(each, "must be text, a number, true or false");
      return [];
    });
    return Object.fromEntries(entries);
  }

  #own(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }

  #pathOf(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #rejectValue(name: string, value: unknown, need: string): void {
    const problem =
      value === undefined ? `is required: ${need}` : `must be ${need}, not ${shortJson(value)}`;
    this.reject(name, problem);
  }

  /** Adds a problem of a field. */
  reject(name: string, problem: string): void {
    this.#problems.push(`${this.#pathOf(name)} ${problem}`);
  }
}

function shortJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
