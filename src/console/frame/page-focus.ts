import { useEffect, useRef } from "react";
import { useLocation } from "wouter";

const title = "main h1";
/** What has the focus on the next page. */
let wanted = title;

/**
 * Lets the first element of a selector have the focus on the next page that is opened, or at once
 * if its page `isShown`.
 */
export function focusOnArrival(selector: string, isShown: boolean): void {
  if (!isShown) wanted = selector;
  else document.querySelector<HTMLElement>(selector)?.focus();
}

/**
 * Moves the focus, and so the screen reader, to the title of each page that is opened, or to what
 * focusOnArrival() named, except on the first page. If the page is still loading, the focus moves
 * when the page appears, unless the focus has moved elsewhere by then.
 */
export function usePageFocus(): void {
  const [here] = useLocation();
  const before = useRef(here);
  useEffect(() => {
    if (before.current === here) return undefined;
    before.current = here;
    window.scrollTo(0, 0);
    const selector = wanted;
    wanted = title;
    if (focus(selector)) return undefined;
    const from = document.activeElement;
    const observer = new MutationObserver(() => {
      const { activeElement } = document;
      const isElsewhere = activeElement !== from && activeElement !== document.body;
      if (isElsewhere || focus(selector)) observer.disconnect();
    });
    observer.observe(document.body, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [here]);
}

function focus(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector);
  found?.focus({ preventScroll: true });
  return found !== null;
}
