/** Scrolling is considered finished if there was no scroll event for this long. */
const scrollEndMs = 250;

let scrolledAtMs = -Infinity;
addEventListener("scroll", () => (scrolledAtMs = performance.now()), { passive: true });

/** Events which show that the user has moved on. */
const userEvents = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/**
 * Focuses an element and keeps it in view. Smooth scrolling that was started by End, Page Down or
 * the wheel continues after the browser has scrolled the element into view. The element is
 * therefore scrolled back until scrolling ends or the user moves on.
 */
export function focusInView(element: HTMLElement): void {
  const isScrolling = performance.now() - scrolledAtMs < scrollEndMs;
  element.focus();
  if (!isScrolling) return;
  const keeping = new AbortController();
  const { signal } = keeping;
  const stop = () => keeping.abort();
  let timer = setTimeout(stop, scrollEndMs);
  const keepInView = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, scrollEndMs);
    if (document.activeElement !== element) stop();
    else if (!isInView(element)) element.scrollIntoView({ block: "center" });
  };
  addEventListener("scroll", keepInView, { passive: true, signal });
  for (const name of userEvents) addEventListener(name, stop, { capture: true, signal });
}

function isInView(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
