import { type RefCallback, useCallback } from "react";

/**
 * Returns a function that observes how far below the top of the window an element is, which is more
 * until the page has been scrolled. Styles have it as --top, so that the element ends above what is
 * at the bottom of the window.
 */
export function useRoomBelow(): RefCallback<HTMLElement> {
  return useCallback((element: HTMLElement) => {
    const off = new AbortController();
    const { signal } = off;
    let shown = "";
    const update = (): void => {
      const top = `${Math.max(0, Math.round(element.getBoundingClientRect().top))}px`;
      if (top === shown) return;
      shown = top;
      element.style.setProperty("--top", top);
    };
    update();
    addEventListener("scroll", update, { signal, passive: true });
    addEventListener("resize", update, { signal });
    // What is above the element may change its height.
    const observer = new ResizeObserver(update);
    observer.observe(document.body);
    return () => {
      off.abort();
      observer.disconnect();
    };
  }, []);
}
