import type { Node } from "prosemirror-model";
import type { NodeView, ViewMutationRecord } from "prosemirror-view";
import type { VisibleParts } from "./visible-parts.ts";

/** What the margin of a paragraph shows. */
export interface Margin {
  /** The name of the speaker; "" if the speaker is unknown or also says the previous paragraph. */
  readonly speaker: string;
  /** The accessible name of the button of the speaker, if it does not show the name. */
  readonly speakerName: string;
  readonly time: string;
  /** The accessible name of the button that plays from this paragraph. */
  readonly timeName: string;
  /** By whom the paragraph is checked, in words; "" if it is not checked. */
  readonly checked: string;
}

/** The elements of a paragraph, and of its margin. They are copied, which is faster than making. */
const [template, marginTemplate] = createTemplates();

function createTemplates(): [HTMLElement, DocumentFragment] {
  const dom = document.createElement("div");
  dom.className = "segment";
  const margin = document.createElement("div");
  margin.className = "segment-margin";
  margin.contentEditable = "false";
  const text = document.createElement("p");
  text.dir = "auto";
  dom.append(margin, text);
  const inMargin = document.createDocumentFragment();
  for (const name of ["segment-speaker unnamed", "segment-time"]) {
    const button = document.createElement("button");
    button.className = name;
    button.type = "button";
    button.tabIndex = -1;
    inMargin.append(button);
  }
  const checked = document.createElement("span");
  checked.className = "segment-checked";
  checked.setAttribute("role", "img");
  checked.textContent = "✓";
  checked.hidden = true;
  inMargin.append(checked);
  return [dom, inMargin];
}

/** The elements of a margin, which are made when it is shown first. */
interface MarginElements {
  readonly speaker: HTMLElement;
  readonly time: HTMLElement;
  readonly checked: HTMLElement;
}

function elementsIn({ firstElementChild: speaker, lastElementChild: checked }: ParentNode) {
  const time = speaker?.nextElementSibling;
  if (
    !(speaker instanceof HTMLElement) ||
    !(time instanceof HTMLElement) ||
    !(checked instanceof HTMLElement)
  )
    throw new Error("a margin lacks an element");
  return { speaker, time, checked };
}

const byElement = new WeakMap<Element, ParagraphView>();

/** Returns the view of a paragraph from its element. */
export function paragraphViewOf(element: Element): ParagraphView | undefined {
  return byElement.get(element);
}

/**
 * A paragraph as in the reading view: speaker and time in the margin, which cannot be edited, next
 * to the text.
 */
export class ParagraphView implements NodeView {
  readonly dom: HTMLElement;
  readonly contentDOM: HTMLElement;
  readonly #margin: Element;
  #elements: MarginElements | undefined;
  #node: Node;
  #shown: Margin = { speaker: "", speakerName: "", time: "", timeName: "", checked: "" };

  constructor(node: Node) {
    this.#node = node;
    const dom = template.cloneNode(true);
    if (!(dom instanceof HTMLElement)) throw new Error("the copy is not an element");
    const { firstElementChild: margin, lastElementChild: text } = dom;
    if (!margin || !(text instanceof HTMLElement)) throw new Error("a paragraph lacks an element");
    this.dom = dom;
    this.#margin = margin;
    this.contentDOM = text;
    byElement.set(dom, this);
  }

  /** The paragraph's node in the current document. */
  get node(): Node {
    return this.#node;
  }

  show(margin: Margin): void {
    if (this.#elements) this.#write(this.#elements, margin);
    else {
      const content = document.importNode(marginTemplate, true);
      this.#elements = elementsIn(content);
      this.#write(this.#elements, margin);
      this.#margin.append(content);
    }
    this.#shown = margin;
  }

  #write(elements: MarginElements, margin: Margin): void {
    const { speaker, speakerName, time, timeName, checked } = margin;
    const old = this.#shown;
    if (speaker !== old.speaker || speakerName !== old.speakerName) {
      elements.speaker.textContent = speaker;
      elements.speaker.classList.toggle("unnamed", speaker === "");
      if (speaker === "") elements.speaker.setAttribute("aria-label", speakerName);
      else elements.speaker.removeAttribute("aria-label");
    }
    if (time !== old.time) elements.time.textContent = time;
    if (timeName !== old.timeName) elements.time.setAttribute("aria-label", timeName);
    if (checked !== old.checked) {
      elements.checked.hidden = checked === "";
      elements.checked.setAttribute("aria-label", checked);
      elements.checked.title = checked;
    }
  }

  update(node: Node): boolean {
    if (node.type !== this.#node.type) return false;
    this.#node = node;
    return true;
  }

  stopEvent({ target }: Event): boolean {
    return target instanceof globalThis.Node && this.#margin.contains(target);
  }

  ignoreMutation({ type, target }: ViewMutationRecord): boolean {
    return type === "attributes" || (type !== "selection" && this.#margin.contains(target));
  }
}

/** A part of the text, which the browser skips while it is out of view. */
export class PartView implements NodeView {
  readonly dom = document.createElement("div");
  readonly contentDOM = this.dom;
  readonly #visible: VisibleParts;

  /** `height` is the height in pixels that is assumed until the part is laid out. */
  constructor(height: number | undefined, visible: VisibleParts) {
    this.#visible = visible;
    this.dom.className = "words-part";
    if (height !== undefined) this.dom.style.containIntrinsicHeight = `auto ${height}px`;
    visible.add(this.dom);
  }

  update(node: Node): boolean {
    return node.type.name === "part";
  }

  ignoreMutation({ type }: ViewMutationRecord): boolean {
    return type === "attributes";
  }

  destroy(): void {
    this.#visible.remove(this.dom);
  }
}
