import type { Node } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import { firstIndex } from "../../spoken-text.ts";
import { paragraphViewOf } from "./node-views.ts";
import type { EditedParagraph } from "../model/base.ts";
import { paragraphOf } from "./schema.ts";
import type { VisibleParts } from "./visible-parts.ts";

/** What is painted over the text, without changing it: search hits, or words in doubt. */
export interface Painting {
  /** The name of the CSS highlight, such as hlust-hit. */
  readonly name: string;
  /**
   * Returns the ranges of a paragraph's text that are painted. It is called again when the
   * paragraph changes, and after refresh().
   */
  rangesIn(paragraph: EditedParagraph): readonly PaintedRange[];
}

export interface PaintedRange {
  /** Offsets in the text of the paragraph, in UTF-16 code units. */
  readonly from: number;
  readonly to: number;
}

/** A painting that is shown. Disposing of it removes it. */
export interface Painted extends Disposable {
  /** Paints again, since the painting has changed. */
  refresh(): void;
}

/**
 * How far above and below the screen paragraphs are painted, as a share of its height, and after
 * which share of it the user has scrolled so far that others are. While the text changes, only what
 * is on the screen is painted, until the user scrolls.
 */
const beyondScreen = { painted: 0.25, scrolled: 0.1 };

/**
 * Paints the paragraphs on the screen, or nearly, with CSS highlights, at most once per frame. For
 * each change of the page, browsers paint all texts again in which a range is highlighted.
 */
export class Painter {
  readonly #view: EditorView;
  readonly #visible: VisibleParts;
  readonly #paintings = new Map<Painting, WeakMap<Node, readonly PaintedRange[]>>();
  readonly #unsubscribe: () => void;
  readonly #listening = new AbortController();
  #frame = 0;
  /** Where the page was scrolled to when it was painted, and how far beyond the screen it was. */
  #painted = { at: 0, beyond: 0 };
  /** How far beyond the screen the next frame is painted. */
  #beyond = 0;

  constructor(view: EditorView, visible: VisibleParts) {
    this.#view = view;
    this.#visible = visible;
    const scrolled = (): void => {
      const { at, beyond } = this.#painted;
      const by = beyond === 0 ? 0 : window.innerHeight * beyondScreen.scrolled;
      if (Math.abs(window.scrollY - at) > by) this.#paintSoon(beyondScreen.painted);
    };
    addEventListener("scroll", scrolled, { signal: this.#listening.signal, passive: true });
    this.#unsubscribe = visible.subscribe(() => this.#paintSoon(beyondScreen.painted));
  }

  show(painting: Painting): Painted {
    const add = () => {
      this.#paintings.set(painting, new WeakMap());
      this.#paintSoon(beyondScreen.painted);
    };
    add();
    return {
      refresh: add,
      [Symbol.dispose]: () => {
        this.#paintings.delete(painting);
        globalThis.CSS.highlights?.delete(painting.name);
      },
    };
  }

  /** Forgets what was painted, since the base of all paragraphs has changed. */
  forget(): void {
    for (const painting of this.#paintings.keys()) this.#paintings.set(painting, new WeakMap());
    this.#paintSoon(beyondScreen.painted);
  }

  /** Notes that the text has changed. */
  changed(): void {
    this.#paintSoon(0);
  }

  #paintSoon(beyond: number): void {
    this.#beyond = Math.max(this.#beyond, beyond);
    if (this.#frame !== 0 || this.#paintings.size === 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#paint(this.#beyond);
      this.#beyond = 0;
    });
  }

  [Symbol.dispose](): void {
    cancelAnimationFrame(this.#frame);
    this.#listening.abort();
    this.#unsubscribe();
    for (const { name } of this.#paintings.keys()) CSS.highlights?.delete(name);
  }

  #paint(beyond: number): void {
    // Browsers without CSS highlights show the text without paintings.
    if (!("highlights" in CSS)) return;
    this.#painted = { at: window.scrollY, beyond };
    const nearPx = window.innerHeight * beyond;
    const elements = [...this.#visible.elements].flatMap((part) =>
      part.parentElement === this.#view.dom && isNear(part, nearPx)
        ? [...nearIn(part, nearPx)]
        : [],
    );
    for (const [painting, known] of this.#paintings) {
      const highlight = new Highlight();
      for (const element of elements) {
        const paragraph = paragraphViewOf(element);
        if (!paragraph) continue;
        const ranges = known.get(paragraph.node) ?? painting.rangesIn(paragraphOf(paragraph.node));
        known.set(paragraph.node, ranges);
        for (const { from, to } of ranges) {
          const range = rangeIn(paragraph.contentDOM, from, to);
          if (range) highlight.add(range);
        }
      }
      CSS.highlights.set(painting.name, highlight);
    }
  }
}

function isNear(element: Element, nearPx: number): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > -nearPx && top < window.innerHeight + nearPx;
}

/** Returns the paragraphs of a part that are near the screen; they are in order. */
function* nearIn({ children }: Element, nearPx: number): Generator<Element> {
  const isBelow = (at: number) => (children[at]?.getBoundingClientRect().bottom ?? 0) > -nearPx;
  for (let at = firstIndex(children.length, isBelow); at < children.length; at += 1) {
    const element = children[at];
    if (!element || !isNear(element, nearPx)) return;
    yield element;
  }
}

/** Returns a range of the text in the element of a paragraph; undefined if it is not there. */
export function rangeIn(p: Element, from: number, to: number): StaticRange | undefined {
  const [start, end] = [placeIn(p, from, false), placeIn(p, to, true)];
  if (!start || !end) return undefined;
  return new StaticRange({
    startContainer: start.text,
    startOffset: start.offset,
    endContainer: end.text,
    endOffset: end.offset,
  });
}

/** Returns the place of an offset: at the end of a text node, or at the start of the next. */
function placeIn(p: Element, offset: number, isEnd: boolean) {
  const isIn = ({ length }: Text, within: number) =>
    within < length || (isEnd && within === length);
  // Only paragraphs with pins have more than one text node.
  const { firstChild } = p;
  if (firstChild instanceof Text && isIn(firstChild, offset)) return { text: firstChild, offset };
  const texts = document.createTreeWalker(p, NodeFilter.SHOW_TEXT);
  let within = offset;
  for (let text = texts.nextNode(); text instanceof Text; text = texts.nextNode()) {
    if (isIn(text, within)) return { text, offset: within };
    within -= text.length;
  }
  return undefined;
}
