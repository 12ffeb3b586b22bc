/** Which rows are on the screen, or nearly. */
export class InSight {
  readonly #names = new Map<Element, string>();
  readonly #onChange: (names: ReadonlySet<string>) => void;
  readonly #observer: IntersectionObserver;
  #seen: ReadonlySet<string> = new Set();

  constructor(onChange: (names: ReadonlySet<string>) => void) {
    this.#onChange = onChange;
    this.#observer = new IntersectionObserver((entries) => this.#note(entries), {
      rootMargin: "200px",
    });
  }

  /** Looks at a row until the answer is called. */
  observe(element: Element, name: string): () => void {
    this.#names.set(element, name);
    this.#observer.observe(element);
    return () => {
      this.#observer.unobserve(element);
      this.#names.delete(element);
      this.#set((seen) => seen.delete(name));
    };
  }

  #note(entries: readonly IntersectionObserverEntry[]): void {
    this.#set((seen) => {
      for (const { target, isIntersecting } of entries) {
        const name = this.#names.get(target);
        if (name !== undefined && isIntersecting) seen.add(name);
        else if (name !== undefined) seen.delete(name);
      }
    });
  }

  #set(change: (seen: Set<string>) => void): void {
    const seen = new Set(this.#seen);
    change(seen);
    this.#seen = seen;
    this.#onChange(seen);
  }
}
