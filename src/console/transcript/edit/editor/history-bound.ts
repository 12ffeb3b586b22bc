import type { EditorState, Plugin, Transaction } from "prosemirror-state";

/** The number of characters that a history may hold: several times the longest transcript. */
const heldCharsMax = 20_000_000;

/**
 * Bounds the text that a history holds, since each step may hold all of a long text. The number of
 * its steps is bounded by the history itself.
 */
export class HistoryBound {
  readonly #history: Plugin;
  readonly #charsMax: number;
  #chars = 0;

  constructor(history: Plugin, { charsMax = heldCharsMax }: { readonly charsMax?: number } = {}) {
    this.#history = history;
    this.#charsMax = charsMax;
  }

  /**
   * Counts what a transaction has removed, and returns its state: with a new history if the old one
   * has held too much.
   */
  bounded(state: EditorState, tr: Transaction): EditorState {
    this.#chars += removedLength(tr);
    if (this.#chars <= this.#charsMax) return state;
    this.#chars = 0;
    const { plugins } = state;
    const others = plugins.filter((plugin) => plugin !== this.#history);
    return state.reconfigure({ plugins: others }).reconfigure({ plugins });
  }
}

function removedLength({ mapping }: Transaction): number {
  let length = 0;
  for (const map of mapping.maps) {
    map.forEach((from, to) => {
      length += to - from;
    });
  }
  return length;
}
