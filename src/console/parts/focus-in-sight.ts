/** A window that was not scrolled for so long is where it was going to. */
const restMs = 250;

let scrolledAtMs = -Infinity;
addEventListener("scroll", () => (scrolledAtMs = performance.now()), { passive: true });

/** What a reader goes on by. */
const goneOnBy = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/**
 * Gives an element the keyboard, and keeps it in sight. End, Page Down and wheels take the window
 * to its place by and by, and what is left of their way is gone on with from wherever the browser
 * has brought the element into sight: until the window rests, or the reader goes on, the element is
 * brought back.
 */
export function focusInSight(element: HTMLElement): void {
  const isUnderWay = performance.now() - scrolledAtMs < restMs;
  element.focus();
  if (!isUnderWay) return;
  const keeping = new AbortController();
  const { signal } = keeping;
  const stop = () => keeping.abort();
  let rest = setTimeout(stop, restMs);
  const keep = () => {
    clearTimeout(rest);
    rest = setTimeout(stop, restMs);
    if (document.activeElement !== element) stop();
    else if (!isInSight(element)) element.scrollIntoView({ block: "center" });
  };
  addEventListener("scroll", keep, { passive: true, signal });
  for (const name of goneOnBy) addEventListener(name, stop, { capture: true, signal });
}

function isInSight(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
