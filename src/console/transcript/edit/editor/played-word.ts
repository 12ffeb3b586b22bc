import type { EditorView } from "prosemirror-view";
import type { TimedWord } from "../model/times.ts";
import { rangeIn } from "./painting.ts";
import type { SpokenPlace, SpokenPlaces } from "./spoken-places.ts";

/** How long a word stays highlighted when silence follows. */
const lingerSeconds = 0.6;
/**
 * No word is highlighted within `key` ms after a key, and one each `every` ms until `rest` ms after
 * it, so that typing stays fast: each time, the times of the changed paragraph are computed, and
 * the browser paints once more.
 */
const typingMs = { key: 100, every: 250, rest: 400 };

/**
 * Highlights the word that is played in the edited text. It never changes the text, the caret or
 * the selection.
 */
export class PlayedWord {
  readonly #view: EditorView;
  readonly #places: SpokenPlaces;
  readonly #listening = new AbortController();
  #shown: SpokenPlace | undefined;
  #isPlayed = false;
  #element: HTMLElement | undefined;
  #keyAt = -Infinity;
  #lookedAt = -Infinity;

  constructor(view: EditorView, places: SpokenPlaces) {
    this.#view = view;
    this.#places = places;
    const { signal } = this.#listening;
    view.dom.addEventListener("beforeinput", () => (this.#keyAt = performance.now()), { signal });
  }

  /** Shows a time; returns whether another word is highlighted. */
  show(seconds: number): boolean {
    const now = performance.now();
    const sinceKey = now - this.#keyAt;
    if (sinceKey < typingMs.key) return false;
    if (sinceKey < typingMs.rest && now - this.#lookedAt < typingMs.every) return false;
    this.#lookedAt = now;
    const place = this.#places.at(this.#view.state.doc, seconds);
    const isPlayed = place !== undefined && seconds < place.word.end + lingerSeconds;
    const isSame =
      place?.word === this.#shown?.word && place?.paragraph.node === this.#shown?.paragraph.node;
    if (isSame && isPlayed === this.#isPlayed) return false;
    this.#shown = place;
    this.#isPlayed = isPlayed;
    this.#mark();
    return !isSame;
  }

  /** The range of the current word; undefined if there is none. */
  range(): Range | undefined {
    const found = this.#found();
    if (!found) return undefined;
    const range = document.createRange();
    range.setStart(found.startContainer, found.startOffset);
    range.setEnd(found.endContainer, found.endOffset);
    return range;
  }

  [Symbol.dispose](): void {
    this.#listening.abort();
    globalThis.CSS.highlights?.delete("hlust-now");
    delete this.#element?.dataset["here"];
  }

  #mark(): void {
    const element = this.#elementOf();
    if (element !== this.#element) {
      delete this.#element?.dataset["here"];
      if (element) element.dataset["here"] = "";
      this.#element = element;
    }
    if (!("highlights" in CSS)) return;
    const highlight = new Highlight();
    const found = this.#isPlayed ? this.#found() : undefined;
    if (found) highlight.add(found);
    CSS.highlights.set("hlust-now", highlight);
  }

  #elementOf(): HTMLElement | undefined {
    if (!this.#shown) return undefined;
    const element = this.#view.nodeDOM(this.#shown.paragraph.pos);
    return element instanceof HTMLElement ? element : undefined;
  }

  /** Returns the range of the word that is shown. */
  #found(): StaticRange | undefined {
    const p = this.#element?.querySelector("p");
    if (!p || !this.#shown) return undefined;
    const { from, to } = extentOf(this.#shown.word);
    return from < to ? rangeIn(p, from, to) : undefined;
  }
}

/** Returns the range of a word without the whitespace around it. */
function extentOf({ text, offset }: TimedWord): { from: number; to: number } {
  const from = offset + text.length - text.trimStart().length;
  return { from, to: Math.max(from, offset + text.trimEnd().length) };
}
