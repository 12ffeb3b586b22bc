/**
 * The zone of the screen, in shares of its height, in which a word does not make the page scroll,
 * and the height to which the page scrolls other words.
 */
const followZone = { top: 0.1, bottom: 0.62, target: 0.3 };
/**
 * The same for a position that the user has chosen. The zone is everything that the player does not
 * cover.
 */
const visibleZone = { top: 0.06, bottom: 0.82, target: 0.3 };
/**
 * Distant parts have an assumed height until they are laid out. The page then scrolls again, at
 * most this many times.
 */
const correctionsMax = 4;

/** Keeps the word that is played in view. */
export interface Follow extends Disposable {
  /**
   * Scrolls to a word that is not in view, unless the user has scrolled away. `isRequested`: the
   * user has chosen this position, so the page scrolls in any case.
   */
  bringIntoView(word: Range, isRequested: boolean): void;
}

/**
 * Follows the playback until the user scrolls by touch, wheel, key or scroll bar. Then `onLeave` is
 * called.
 */
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
    bringIntoView(word, isRequested) {
      if (!isRequested && !isFollowing()) return;
      scrollTo(word, isRequested ? visibleZone : followZone, correctionsMax, signal);
    },
    [Symbol.dispose]: () => listening.abort(),
  };
}

function scrollTo(
  word: Range,
  { top, bottom, target }: typeof followZone,
  corrections: number,
  signal: AbortSignal,
) {
  const rect = word.getBoundingClientRect();
  const height = window.innerHeight;
  if (rect.top >= top * height && rect.bottom <= bottom * height) return;
  const by = rect.top - target * height;
  const isNear = Math.abs(by) < height && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  window.scrollBy({ top: by, behavior: isNear ? "smooth" : "instant" });
  if (isNear || corrections === 0) return;
  requestAnimationFrame(() => {
    if (!signal.aborted) scrollTo(word, { top, bottom, target }, corrections - 1, signal);
  });
}
