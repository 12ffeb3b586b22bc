import type { Mapping } from "prosemirror-transform";
import type { EditorView } from "prosemirror-view";

/**
 * Returns a function that scrolls after a change, so that a paragraph on the screen is where it is
 * now: the one with the caret, or else the first one. `parts` are the parts of the text that are in
 * view or nearly.
 */
export function holdScroll(view: EditorView, parts: Iterable<Element>): (mapping: Mapping) => void {
  const { $head } = view.state.selection;
  const caret = $head.depth < 2 ? null : view.nodeDOM($head.before(2));
  const held = caret instanceof Element && isOnScreen(caret) ? caret : firstOf(parts);
  if (!held) return () => {};
  const { top } = held.getBoundingClientRect();
  // Elements show other paragraphs after the change, so the paragraph is found by its position.
  const pos = view.posAtDOM(held, 0);
  return (mapping) => {
    const { node } = view.domAtPos(mapping.map(pos, 1));
    const element = node instanceof Element ? node : node.parentElement;
    const segment = element?.closest(".segment");
    const by = (segment?.getBoundingClientRect().top ?? top) - top;
    if (Math.abs(by) >= 1) window.scrollBy({ top: by, behavior: "instant" });
  };
}

function isOnScreen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}

function firstOf(parts: Iterable<Element>): Element | undefined {
  const elements = [...parts].filter(isOnScreen).flatMap((part) => [...part.children]);
  const tops = elements
    .filter(isOnScreen)
    .map((element) => ({ element, top: element.getBoundingClientRect().top }));
  return tops.toSorted((one, other) => one.top - other.top)[0]?.element;
}
