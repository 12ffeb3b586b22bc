/** The parts of the text that are in view, or nearly. Only these are painted. */
export class VisibleParts {
  readonly #visible = new Set<Element>();
  readonly #listeners = new Set<() => void>();
  readonly #observer: IntersectionObserver;

  constructor() {
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          if (isIntersecting) this.#visible.add(target);
          else this.#visible.delete(target);
        }
        for (const listener of this.#listeners) listener();
      },
      { rootMargin: "50% 0%" },
    );
  }

  get elements(): ReadonlySet<Element> {
    return this.#visible;
  }

  add(part: Element): void {
    this.#observer.observe(part);
  }

  remove(part: Element): void {
    this.#observer.unobserve(part);
    this.#visible.delete(part);
  }

  /** Calls a listener when other parts come into view. Returns a function that removes it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect();
  }
}
