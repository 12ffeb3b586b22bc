/** The failures of one kind. */
export interface Failure {
  readonly kind: string;
  readonly count: number;
  /** The message of the first failure of this kind. */
  readonly example: string;
}

/** Counts failures by kind. */
export class FailureCounts {
  readonly #byKind = new Map<string, Failure>();

  add(kind: string, message: string): void {
    const known = this.#byKind.get(kind) ?? { kind, count: 0, example: message };
    this.#byKind.set(kind, { ...known, count: known.count + 1 });
  }

  get all(): readonly Failure[] {
    return [...this.#byKind.values()];
  }

  get count(): number {
    return this.all.reduce((sum, { count }) => sum + count, 0);
  }
}
