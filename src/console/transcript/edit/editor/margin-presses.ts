import type { EditorView } from "prosemirror-view";
import { paragraphAround } from "./places.ts";

/** Reports presses on the speakers and the times in the margin, with the index of the paragraph. */
export class MarginPresses implements Disposable {
  readonly #listening = new AbortController();
  readonly #speakerListeners = new Set<(index: number) => void>();

  constructor(view: EditorView, mount: HTMLElement, onTime: (index: number) => void) {
    const report = ({ target }: MouseEvent): void => {
      const button = target instanceof Element ? target.closest("button") : null;
      const element = button?.closest(".segment");
      if (!button || !element) return;
      const { index } = paragraphAround(view.state.doc.resolve(view.posAtDOM(element, 0) + 1));
      if (button.classList.contains("segment-time")) onTime(index);
      else for (const listener of this.#speakerListeners) listener(index);
    };
    mount.addEventListener("click", report, { signal: this.#listening.signal });
  }

  /** Calls a listener for each press on a speaker. Returns a function that removes it. */
  addSpeakerListener(listener: (index: number) => void): () => void {
    this.#speakerListeners.add(listener);
    return () => this.#speakerListeners.delete(listener);
  }

  [Symbol.dispose](): void {
    this.#listening.abort();
  }
}
