import type { EditorView } from "prosemirror-view";

/** The room that the line of the caret has below the bar over the text, in pixels. */
const roomPx = 8;

/** The parts of the screen that the bar over the text and the player cover, with some room. */
export class Covered {
  /** In pixels. The editor's library reads them each time that it scrolls. */
  readonly px = { top: 72, right: 0, bottom: 120, left: 0 };

  /**
   * Notes the height of the bar over the text. If it has grown over the line of the caret, which
   * was in view, scrolls this line into view.
   */
  setBar(view: EditorView, heightPx: number): void {
    const before = this.px.top - roomPx;
    this.px.top = heightPx + roomPx;
    if (heightPx <= before || !view.hasFocus()) return;
    // By then the browser has kept the text at its place.
    requestAnimationFrame(() => {
      if (view.isDestroyed) return;
      const { top } = view.coordsAtPos(view.state.selection.head);
      if (top < before || top >= heightPx) return;
      window.scrollBy({ top: top - this.px.top, behavior: "instant" });
    });
  }
}
