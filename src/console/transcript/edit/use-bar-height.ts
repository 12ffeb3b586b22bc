import { type RefCallback, useCallback } from "react";
import type { Editor } from "./editor/editor.ts";

/** The room between the bar and what the browser scrolls into view, in pixels. */
const roomPx = 8;

/**
 * Returns a function that observes the height of the bar over the text, which is more while others
 * have the text open or say something. Neither the editor nor the browser scrolls text below it.
 */
export function useBarHeight(editor: Editor): RefCallback<HTMLElement> {
  return useCallback(
    (bar: HTMLElement) => {
      const { style } = document.documentElement;
      const observer = new ResizeObserver(() => {
        const height = bar.offsetHeight;
        // As a property that elements inherit, it would have the style of all of them computed.
        style.scrollPaddingTop = `${height + roomPx}px`;
        bar.style.setProperty("--edit-bar-height", `${height}px`);
        editor.setBarHeight(height);
      });
      observer.observe(bar);
      return () => {
        observer.disconnect();
        style.removeProperty("scroll-padding-top");
      };
    },
    [editor],
  );
}
