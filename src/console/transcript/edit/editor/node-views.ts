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

/** The elements of a paragraph. They are copied, which is faster than making each. */
const template = createTemplate();

function createTemplate(): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "segment";
  const margin = document.createElement("div");
  margin.className = "segment-margin";
  margin.contentEditable = "false";
  for (const name of ["segment-speaker", "segment-time"]) {
    const button = document.createElement("button");
    button.className = name;
    button.type = "button";
    button.tabIndex = -1;
    margin.append(button);
  }
  const checked = document.createElement("span");
  checked.className = "segment-checked";
  checked.setAttribute("role", "img");
  checked.textContent = "✓";
  checked.hidden = true;
  margin.append(checked);
  dom.append(margin, document.createElement("p"));
  return dom;
}

function copyOf(element: HTMLElement) {
  const dom = element.cloneNode(true);
  if (!(dom instanceof HTMLElement)) throw new Error("the copy is not an element");
  const [margin, text] = dom.children;
  const [speaker, time, checked] = margin?.children ?? [];
  if (
    !margin ||
    !(text instanceof HTMLElement) ||
    !(speaker instanceof HTMLElement) ||
    !(time instanceof HTMLElement) ||
    !(checked instanceof HTMLElement)
  )
    throw new Error("a paragraph lacks an element");
  speaker.classList.add("unnamed");
  return { dom, margin, speaker, time, checked, text };
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
  readonly #speaker: HTMLElement;
  readonly #time: HTMLElement;
  readonly #checked: HTMLElement;
  #node: Node;
  #shown: Margin = { speaker: "", speakerName: "", time: "", timeName: "", checked: "" };

  constructor(node: Node) {
    this.#node = node;
    const { dom, margin, speaker, time, checked, text } = copyOf(template);
    this.dom = dom;
    this.#margin = margin;
    this.#speaker = speaker;
    this.#time = time;
    this.#checked = checked;
    this.contentDOM = text;
    byElement.set(dom, this);
  }

  /** The paragraph's node in the current document. */
  get node(): Node {
    return this.#node;
  }

  show(margin: Margin): void {
    const { speaker, speakerName, time, timeName, checked } = margin;
    const old = this.#shown;
    if (speaker !== old.speaker || speakerName !== old.speakerName) {
      this.#speaker.textContent = speaker;
      this.#speaker.classList.toggle("unnamed", speaker === "");
      if (speaker === "") this.#speaker.setAttribute("aria-label", speakerName);
      else this.#speaker.removeAttribute("aria-label");
    }
    if (time !== old.time) this.#time.textContent = time;
    if (timeName !== old.timeName) this.#time.setAttribute("aria-label", timeName);
    if (checked !== old.checked) {
      this.#checked.hidden = checked === "";
      this.#checked.setAttribute("aria-label", checked);
      this.#checked.title = checked;
    }
    this.#shown = margin;
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
