import { extentOfWord, pieceOfWord, wordAt, type SpokenText } from "./spoken-text.ts";

/** Paragraphs that are laid out and painted together, or not while they are far away. */
export const piecesOfPart = 32;
/** How long a word keeps its wash where a silence follows. */
const lingerSeconds = 0.6;

/**
 * Shows in the text what is heard: the word under way has a wash, what was said is ink, what is to
 * come is softer. Each paragraph is one text, as search and screen readers want it: the browser
 * paints over it (CSS Custom Highlight API), and where it cannot, a span lies under the word. A new
 * word costs the same in a long text as in a short one; `root` has parts as children, those have
 * paragraphs.
 */
export class HeardLight {
  readonly #root: HTMLElement;
  readonly #text: SpokenText;
  readonly #now: Highlight | undefined;
  readonly #heard: Highlight | undefined;
  readonly #wash: HTMLElement | undefined;
  #word = -2;
  #isSounding = false;
  #piece = -1;

  constructor(root: HTMLElement, text: SpokenText) {
    this.#root = root;
    this.#text = text;
    if (typeof Highlight === "function" && "highlights" in CSS) {
      this.#now = new Highlight();
      this.#heard = new Highlight();
      CSS.highlights.set("hlust-now", this.#now);
      CSS.highlights.set("hlust-heard", this.#heard);
    } else {
      this.#wash = document.createElement("span");
      this.#wash.className = "words-wash";
      this.#wash.ariaHidden = "true";
      root.parentElement?.append(this.#wash);
    }
  }

  /** Shows what is heard at a place; whether another word is. */
  show(seconds: number): boolean {
    const word = wordAt(this.#text, seconds);
    const isSounding = seconds < (this.#text.ends[word] ?? 0) + lingerSeconds;
    const isOther = word !== this.#word;
    if (!isOther && isSounding === this.#isSounding) return false;
    this.#word = word;
    this.#isSounding = isSounding;
    const piece = word < 0 ? 0 : pieceOfWord(this.#text, word);
    if (piece !== this.#piece) this.#lightPieces(piece);
    this.#lightWord();
    return isOther;
  }

  /**
   * The word that is heard, to be brought into sight; undefined before the first one, and while its
   * paragraph is not there.
   */
  range(): Range | undefined {
    const node = this.#textNode(this.#piece);
    if (!node || this.#word < 0) return undefined;
    const { from, to } = extentOfWord(this.#text, this.#word);
    const range = document.createRange();
    range.setStart(node, from);
    range.setEnd(node, to);
    return range;
  }

  /** As if nothing had been heard. */
  [Symbol.dispose](): void {
    CSS.highlights?.delete("hlust-now");
    CSS.highlights?.delete("hlust-heard");
    this.#wash?.remove();
    delete this.#root.dataset["listening"];
    for (const lit of this.#root.querySelectorAll<HTMLElement>("[data-heard], [data-here]")) {
      delete lit.dataset["heard"];
      delete lit.dataset["here"];
    }
  }

  #lightPieces(piece: number): void {
    this.#root.dataset["listening"] = "";
    const before = Math.floor(Math.max(0, this.#piece) / piecesOfPart);
    const part = Math.floor(piece / piecesOfPart);
    const parts = this.#root.children;
    const to = Math.max(before, part);
    for (let at = Math.min(before, part); at <= to; at++) mark(parts[at], "heard", at < part);
    // Of the parts between only the mark of the whole counts.
    for (const at of new Set([before, part])) {
      for (const [of, segment] of [...(parts[at]?.children ?? [])].entries()) {
        const index = at * piecesOfPart + of;
        mark(segment, "heard", at === part && index < piece);
        mark(segment, "here", index === piece);
      }
    }
    this.#piece = piece;
  }

  #lightWord(): void {
    this.#now?.clear();
    this.#heard?.clear();
    const node = this.#textNode(this.#piece);
    if (!node || this.#word < 0) {
      if (this.#wash) this.#wash.hidden = true;
      return;
    }
    const { from, to } = extentOfWord(this.#text, this.#word);
    this.#heard?.add(part(node, 0, to));
    if (this.#isSounding) this.#now?.add(part(node, from, to));
    if (this.#wash) this.#lay(this.#wash);
  }

  /** Lays the span under the word; where a word is broken over lines, under its first part. */
  #lay(wash: HTMLElement): void {
    const [at] = this.range()?.getClientRects() ?? [];
    const ground = wash.parentElement?.getBoundingClientRect();
    wash.hidden = !at || !ground || !this.#isSounding;
    if (!at || !ground) return;
    wash.style.left = `${at.left - ground.left}px`;
    wash.style.top = `${at.top - ground.top}px`;
    wash.style.width = `${at.width}px`;
    wash.style.height = `${at.height}px`;
  }

  #textNode(piece: number): Text | undefined {
    const part = this.#root.children[Math.floor(piece / piecesOfPart)];
    const node = part?.children[piece % piecesOfPart]?.querySelector("p")?.firstChild;
    return node instanceof Text ? node : undefined;
  }
}

function part(node: Text, from: number, to: number): StaticRange {
  return new StaticRange({
    startContainer: node,
    startOffset: from,
    endContainer: node,
    endOffset: to,
  });
}

function mark(element: Element | undefined, name: "heard" | "here", isSet: boolean): void {
  element?.toggleAttribute(`data-${name}`, isSet);
}
