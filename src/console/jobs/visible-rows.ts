/** Tracks which rows are on the screen, or within 200 px of it. */
export class VisibleRows {
  readonly #names = new Map<Element, string>();
  readonly #onChange: (names: ReadonlySet<string>) => void;
  readonly #observer: IntersectionObserver;
  #visible: ReadonlySet<string> = new Set();

  constructor(onChange: (names: ReadonlySet<string>) => void) {
    this.#onChange = onChange;
    this.#observer = new IntersectionObserver((entries) => this.#note(entries), {
      rootMargin: "200px",
    });
  }

  /** Tracks a row until the returned function is called. */
  observe(element: Element, name: string): () => void {
    this.#names.set(element, name);
    this.#observer.observe(element);
    return () => {
      this.#observer.unobserve(element);
      this.#names.delete(element);
      this.#set((visible) => visible.delete(name));
    };
  }

  #note(entries: readonly IntersectionObserverEntry[]): void {
    this.#set((visible) => {
      for (const { target, isIntersecting } of entries) {
        const name = this.#names.get(target);
        if (name !== undefined && isIntersecting) visible.add(name);
        else if (name !== undefined) visible.delete(name);
      }
    });
  }

  #set(change: (visible: Set<string>) => void): void {
    const visible = new Set(this.#visible);
    change(visible);
    this.#visible = visible;
    this.#onChange(visible);
  }
}
