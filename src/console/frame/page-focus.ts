import { useEffect, useRef } from "react";
import { useLocation } from "wouter";

/**
 * Moves the focus, and so the screen reader, to the title of each page that is opened, except the
 * first. If the page is still loading, the focus moves when the page appears, unless the focus has
 * moved elsewhere by then.
 */
export function usePageFocus(): void {
  const [here] = useLocation();
  const before = useRef(here);
  useEffect(() => {
    if (before.current === here) return undefined;
    before.current = here;
    window.scrollTo(0, 0);
    if (focusTitle()) return undefined;
    const from = document.activeElement;
    const observer = new MutationObserver(() => {
      const { activeElement } = document;
      const isElsewhere = activeElement !== from && activeElement !== document.body;
      if (isElsewhere || focusTitle()) observer.disconnect();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [here]);
}

function focusTitle(): boolean {
  const title = document.querySelector<HTMLElement>("main h1");
  title?.focus({ preventScroll: true });
  return title !== null;
}
