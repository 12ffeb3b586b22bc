import { type RefCallback, useCallback } from "react";
import type { Editor } from "./editor/editor.ts";

/**
 * Returns a function that observes the height of the bar over the text, which is more while others
 * have the text open or say something. Neither the editor nor the browser scrolls text below it.
 */
export function useBarHeight(editor: Editor): RefCallback<HTMLElement> {
  return useCallback(
    (bar: HTMLElement) => {
      const { style } = document.documentElement;
      const observer = new ResizeObserver(() => {
        style.setProperty("--edit-bar-height", `${bar.offsetHeight}px`);
        editor.setBarHeight(bar.offsetHeight);
      });
      observer.observe(bar);
      return () => {
        observer.disconnect();
        style.removeProperty("--edit-bar-height");
      };
    },
    [editor],
  );
}
