import type { Node } from "prosemirror-model";
import { Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { WhenIdle } from "../when-idle.ts";
import type { Base, EditedParagraph } from "../model/base.ts";
import type { Retimings } from "../model/retimings.ts";
import { type Margin, paragraphViewOf } from "./node-views.ts";
import { runOf } from "./places.ts";
import { paragraphOf, retimingsOf, type Speakers, speakersOf } from "./schema.ts";
import type { VisibleParts } from "./visible-parts.ts";

/** Writes the margin of a paragraph. `previous` is the paragraph above. */
export type WriteMargin = (
  paragraph: EditedParagraph,
  previous: EditedParagraph | undefined,
  text: { readonly base: Base; readonly speakers: Speakers; readonly retimings: Retimings },
) => Margin;

/** A part of the text on the page. */
interface PartPlace {
  readonly node: Node;
  readonly element: Element;
  /** The last paragraph of the part above. */
  readonly above: Node | undefined;
}

/**
 * Shows speakers and times in the margins. After a change, only parts that have changed, and the
 * paragraphs after them, are written again: those in view at once, the others when the page is
 * idle, since all margins of a long text take longer than a key may.
 */
export class Margins implements Disposable {
  readonly #baseNow: () => Base;
  readonly #visible: VisibleParts;
  /** The elements of parts whose margins are to be written. */
  readonly #waiting = new Set<Element>();
  readonly #idle = new WhenIdle(() => this.#writeNext());
  readonly #unsubscribe: () => void;
  #write: WriteMargin;
  #view: EditorView | undefined;
  /** The index of the part that is shown first, until it is known which parts are in view. */
  #first: number | undefined;

  constructor(
    visible: VisibleParts,
    {
      baseNow,
      write,
      firstPart,
    }: {
      readonly baseNow: () => Base;
      readonly write: WriteMargin;
      readonly firstPart: number;
    },
  ) {
    this.#visible = visible;
    this.#baseNow = baseNow;
    this.#write = write;
    this.#first = firstPart;
    this.#unsubscribe = visible.subscribe(() => {
      this.#first = undefined;
      if (this.#waiting.size > 0) this.#writeVisible();
    });
  }

  /** Returns the plugin that writes the margins of an editor. */
  plugin(): Plugin {
    return new Plugin({
      view: (view) => {
        this.#view = view;
        this.writeAll();
        return {
          update: (_, { doc: before }) => {
            if (before !== view.state.doc) this.#writeChanged(before, view.state.doc);
          },
        };
      },
    });
  }

  /** Writes all margins in another way, for example in another language. */
  setWrite(write: WriteMargin): void {
    this.#write = write;
    this.writeAll();
  }

  /** Writes all margins again. */
  writeAll(): void {
    for (const element of this.#view?.dom.children ?? []) this.#waiting.add(element);
    this.#writeVisible();
  }

  [Symbol.dispose](): void {
    this.#idle[Symbol.dispose]();
    this.#unsubscribe();
  }

  #writeChanged(before: Node, after: Node): void {
    if (speakersOf(before) !== speakersOf(after)) {
      this.writeAll();
      return;
    }
    const retimed = retimedWords(retimingsOf(before), retimingsOf(after));
    const unchanged = new Set(before.children.filter((part) => !hasSome(part, retimed)));
    let wasChanged = false;
    for (const place of this.#parts()) {
      const isChanged = !unchanged.has(place.node);
      if (isChanged) this.#waiting.add(place.element);
      // The first paragraph depends on the last one of the part above.
      else if (wasChanged && !this.#waiting.has(place.element)) this.#writePart(place, 1);
      wasChanged = isChanged;
    }
    this.#writeVisible();
  }

  /** Writes the parts that are in view, and the others later. */
  #writeVisible(): void {
    const isFirst = (at: number) => this.#first !== undefined && Math.abs(at - this.#first) <= 1;
    let index = 0;
    for (const place of this.#parts()) {
      const isInView = this.#visible.elements.has(place.element) || isFirst(index);
      if (isInView && this.#waiting.delete(place.element)) this.#writePart(place);
      index += 1;
    }
    if (this.#waiting.size > 0) this.#idle.begin();
  }

  /** Writes the margins of a part that waits. Returns whether others wait. */
  #writeNext(): boolean {
    for (const place of this.#parts()) {
      if (!this.#waiting.delete(place.element)) continue;
      this.#writePart(place);
      return this.#waiting.size > 0;
    }
    // Parts that were removed wait no longer.
    this.#waiting.clear();
    return false;
  }

  *#parts(): Generator<PartPlace> {
    if (!this.#view) return;
    const { dom, state } = this.#view;
    let element = dom.firstElementChild;
    let above: Node | undefined;
    for (const node of state.doc.children) {
      if (!element) return;
      yield { node, element, above };
      element = element.nextElementSibling;
      above = node.lastChild ?? above;
    }
  }

  #writePart({ node: part, element, above }: PartPlace, count = part.childCount): void {
    if (!this.#view) return;
    const { doc } = this.#view.state;
    const base = this.#baseNow();
    const text = { base, speakers: speakersOf(doc), retimings: retimingsOf(doc) };
    let [previous, segment] = [above, element.firstElementChild];
    for (const node of part.children.slice(0, count)) {
      const view = segment && paragraphViewOf(segment);
      view?.show(this.#write(paragraphOf(node), previous && paragraphOf(previous), text));
      segment = segment?.nextElementSibling ?? null;
      previous = node;
    }
  }
}

/** Returns the words whose times differ. */
function retimedWords(before: Retimings, after: Retimings): number[] {
  if (before === after) return [];
  const words = new Set([...before.keys(), ...after.keys()]);
  return [...words].filter((word) => before.get(word) !== after.get(word));
}

/** Whether some words are in the runs of a part. */
function hasSome({ firstChild, lastChild }: Node, words: readonly number[]): boolean {
  if (words.length === 0 || !firstChild || !lastChild) return false;
  const [from, to] = [runOf(firstChild).from, runOf(lastChild).to];
  return words.some((word) => word >= from && word < to);
}
