import type { EditorView } from "prosemirror-view";
import { balanceParts } from "./balance.ts";
import { readSelection } from "./input.ts";

/** How long the text has not changed before its parts are balanced. */
const idleMs = 1_500;

/** Balances the parts of a text while no one types. */
export class LaterBalance implements Disposable {
  readonly #view: EditorView;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(view: EditorView) {
    this.#view = view;
  }

  /** Starts to wait, again with each change. */
  start(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#balance(), idleMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
  }

  #balance(): void {
    if (this.#view.composing) {
      this.start();
      return;
    }
    // Otherwise a caret that was just placed would go back.
    readSelection(this.#view);
    const tr = balanceParts(this.#view.state);
    if (tr) this.#view.dispatch(tr);
  }
}
