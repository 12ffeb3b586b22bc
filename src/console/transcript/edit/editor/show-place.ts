import type { Editor } from "./editor.ts";
import { type Caret, paragraphAt, positionOf } from "./places.ts";

/** Places the caret, and scrolls it into the middle of the screen if it is not in view. */
export function showPlace(editor: Editor, caret: Caret): void {
  editor.setCaret(caret, { isShown: false });
  const place = paragraphAt(editor.state.doc, caret.paragraph);
  const element = place && editor.view.nodeDOM(place.pos);
  if (!(element instanceof HTMLElement)) return;
  const at = positionOf(editor.state.doc, caret);
  const isInView = (): boolean => {
    const { top, bottom } = editor.view.coordsAtPos(at);
    const covered = editor.coveredPx;
    return top > covered.top && bottom < window.innerHeight - covered.bottom;
  };
  const { top, bottom } = element.getBoundingClientRect();
  const isNear = bottom > 0 && top < window.innerHeight;
  if (isNear && isInView()) return;
  element.scrollIntoView({ block: "center", behavior: "instant" });
  if (isInView()) return;
  window.scrollBy({
    top: editor.view.coordsAtPos(at).top - window.innerHeight / 3,
    behavior: "instant",
  });
}
