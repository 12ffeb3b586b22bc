/**
 * Where a word may stand on the screen, in shares of its height, before the page is scrolled to it;
 * and where it is put then.
 */
const zone = { top: 0.1, bottom: 0.62, put: 0.3 };
/** The same for what somebody has gone to: all that is free of the player. */
const free = { top: 0.06, bottom: 0.82, put: 0.3 };
/**
 * Parts far away are as high as they are thought to be until they are laid out: then the place is
 * looked for again.
 */
const looksMax = 4;

/** Keeps what is heard in sight. */
export interface Follow extends Disposable {
  /**
   * Scrolls to a word that is out of sight, unless the user has scrolled away; `isGoneTo`: the user
   * wants to be there.
   */
  bring(word: Range, isGoneTo: boolean): void;
}

/** Follows until the user scrolls by hand, wheel, key or scroll bar: `onLeave` is called then. */
export function openFollow({
  isFollowing,
  onLeave,
}: {
  readonly isFollowing: () => boolean;
  readonly onLeave: () => void;
}): Follow {
  const listening = new AbortController();
  const { signal } = listening;
  for (const name of ["wheel", "touchmove"] as const) {
    addEventListener(name, onLeave, { signal, passive: true });
  }
  addEventListener(
    "keydown",
    ({ key }) => {
      if (["PageUp", "PageDown", "Home", "End"].includes(key)) onLeave();
    },
    { signal },
  );
  addEventListener(
    "pointerdown",
    ({ target, clientX }) => {
      const page = document.documentElement;
      if (target === page && clientX >= page.clientWidth) onLeave();
    },
    { signal },
  );
  return {
    bring(word, isGoneTo) {
      if (isGoneTo || isFollowing()) look(word, isGoneTo ? free : zone, looksMax, signal);
    },
    [Symbol.dispose]: () => listening.abort(),
  };
}

function look(word: Range, { top, bottom, put }: typeof zone, looks: number, signal: AbortSignal) {
  const rect = word.getBoundingClientRect();
  const height = window.innerHeight;
  if (rect.top >= top * height && rect.bottom <= bottom * height) return;
  const by = rect.top - put * height;
  const isNear = Math.abs(by) < height && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  window.scrollBy({ top: by, behavior: isNear ? "smooth" : "instant" });
  if (isNear || looks === 0) return;
  requestAnimationFrame(() => {
    if (!signal.aborted) look(word, { top, bottom, put }, looks - 1, signal);
  });
}
