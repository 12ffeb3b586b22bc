import { extentOfWord, paragraphOfWord, wordAt, type SpokenText } from "./spoken-text.ts";

/** The number of paragraphs that are laid out and painted together. */
export const paragraphsPerPart = 32;
/** How long a word stays highlighted when silence follows. */
const lingerSeconds = 0.6;

/**
 * Shows the position of the playback in the text: the current word is highlighted, the text before
 * it is dark, and the text after it is softer. Each paragraph is one text node, for search and
 * screen readers. The browser highlights a range of this node (CSS Custom Highlight API), or else a
 * span is placed under the word. The cost of a new word does not depend on the length of the text.
 * The children of `root` are parts, and the children of parts are paragraphs.
 */
export class PlaybackHighlight {
  readonly #root: HTMLElement;
  readonly #text: SpokenText;
  readonly #now: Highlight | undefined;
  readonly #played: Highlight | undefined;
  /** The span under the word, in browsers without CSS highlights. */
  readonly #wash: HTMLElement | undefined;
  #word = -2;
  #isPlayed = false;
  #paragraph = -1;

  constructor(root: HTMLElement, text: SpokenText) {
    this.#root = root;
    this.#text = text;
    if (typeof Highlight === "function" && "highlights" in CSS) {
      this.#now = new Highlight();
      this.#played = new Highlight();
      CSS.highlights.set("hlust-now", this.#now);
      CSS.highlights.set("hlust-played", this.#played);
    } else {
      this.#wash = document.createElement("span");
      this.#wash.className = "words-wash";
      this.#wash.ariaHidden = "true";
      root.parentElement?.append(this.#wash);
    }
  }

  /** Shows a position; returns whether the current word has changed. */
  show(seconds: number): boolean {
    const word = wordAt(this.#text, seconds);
    const isPlayed = seconds < (this.#text.ends[word] ?? 0) + lingerSeconds;
    const isOther = word !== this.#word;
    if (!isOther && isPlayed === this.#isPlayed) return false;
    this.#word = word;
    this.#isPlayed = isPlayed;
    const paragraph = word < 0 ? 0 : paragraphOfWord(this.#text, word);
    if (paragraph !== this.#paragraph) this.#markParagraphs(paragraph);
    this.#highlightWord();
    return isOther;
  }

  /**
   * The range of the current word; undefined before the first word, and while its paragraph is not
   * rendered.
   */
  range(): Range | undefined {
    const node = textNodeOf(this.#root, this.#paragraph);
    if (!node || this.#word < 0) return undefined;
    const { from, to } = extentOfWord(this.#text, this.#word);
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range;
  }

  /** Removes every highlight. */
  [Symbol.dispose](): void {
    CSS.highlights?.delete("hlust-now");
    CSS.highlights?.delete("hlust-played");
    this.#wash?.remove();
    delete this.#root.dataset["listening"];
    const marked = "[data-played], [data-here]";
    for (const element of this.#root.querySelectorAll<HTMLElement>(marked)) {
      delete element.dataset["played"];
      delete element.dataset["here"];
    }
  }

  #markParagraphs(paragraph: number): void {
    this.#root.dataset["listening"] = "";
    const before = Math.floor(Math.max(0, this.#paragraph) / paragraphsPerPart);
    const part = Math.floor(paragraph / paragraphsPerPart);
    const parts = this.#root.children;
    const to = Math.max(before, part);
    for (let at = Math.min(before, part); at <= to; at++) mark(parts[at], "played", at < part);
    // The parts in between are marked as a whole.
    for (const at of new Set([before, part])) {
      for (const [of, segment] of [...(parts[at]?.children ?? [])].entries()) {
        const index = at * paragraphsPerPart + of;
        mark(segment, "played", at === part && index < paragraph);
        mark(segment, "here", index === paragraph);
      }
    }
    this.#paragraph = paragraph;
  }

  #highlightWord(): void {
    this.#now?.clear();
    this.#played?.clear();
    const node = textNodeOf(this.#root, this.#paragraph);
    if (!node || this.#word < 0) {
      if (this.#wash) this.#wash.hidden = true;
      return;
    }
    const { from, to } = extentOfWord(this.#text, this.#word);
    this.#played?.add(part(node, 0, to));
    if (this.#isPlayed) this.#now?.add(part(node, from, to));
    if (this.#wash) this.#place(this.#wash);
  }

  /** Places the span under the word, or under the first part of a word that spans two lines. */
  #place(wash: HTMLElement): void {
    const [at] = this.range()?.getClientRects() ?? [];
    const ground = wash.parentElement?.getBoundingClientRect();
    wash.hidden = !at || !ground || !this.#isPlayed;
    if (!at || !ground) return;
    wash.style.left = `${at.left - ground.left}px`;
    wash.style.top = `${at.top - ground.top}px`;
    wash.style.width = `${at.width}px`;
    wash.style.height = `${at.height}px`;
  }
}

/**
 * Returns the text node of a paragraph; undefined while it is not rendered. `root` is the same as
 * in PlaybackHighlight.
 */
export function textNodeOf(root: HTMLElement, paragraph: number): Text | undefined {
  const part = root.children[Math.floor(paragraph / paragraphsPerPart)];
  const node = part?.children[paragraph % paragraphsPerPart]?.querySelector("p")?.firstChild;
  return node instanceof Text ? node : undefined;
}

function part(node: Text, from: number, to: number): StaticRange {
  return new StaticRange({
    startContainer: node,
    startOffset: from,
    endContainer: node,
    endOffset: to,
  });
}

function mark(element: Element | undefined, name: "played" | "here", isSet: boolean): void {
  element?.toggleAttribute(`data-${name}`, isSet);
}
