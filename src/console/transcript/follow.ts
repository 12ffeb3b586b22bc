/**
 * A zone of the screen, in fractions of its height, in which a word does not make the page scroll,
 * and the height to which the page scrolls words outside this zone.
 */
export interface Zone {
  readonly top: number;
  readonly bottom: number;
  readonly target: number;
}

/** The zone for the word that is played. */
const followZone: Zone = { top: 0.1, bottom: 0.62, target: 0.3 };
/**
 * The zone and height for a position that the user has chosen. This zone is the area that the
 * player does not cover.
 */
export const visibleZone: Zone = { top: 0.06, bottom: 0.82, target: 0.3 };
/**
 * The maximum number of times that the page corrects its scroll position. Distant parts have an
 * assumed height until they are laid out, so the first position may be wrong.
 */
const correctionsMax = 4;

/** Keeps the word that is being played in view. */
export interface Follow extends Disposable {
  /**
   * Scrolls to a word or subtitle that is not in view, unless the user has scrolled away.
   * `isRequested`: the user has chosen this position, so the page scrolls in any case.
   */
  bringIntoView(word: Pick<Range, "getBoundingClientRect">, isRequested: boolean): void;
}

/**
 * Follows the playback until the user scrolls by touch, wheel, key or scroll bar, and then calls
 * `onLeave`.
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
      scrollToPlace(word, isRequested ? visibleZone : followZone, signal);
    },
    [Symbol.dispose]: () => listening.abort(),
  };
}

/** Scrolls to a place in the text that is not in a zone. `signal` ends the corrections. */
export function scrollToPlace(
  word: Pick<Range, "getBoundingClientRect">,
  { top, bottom, target }: Zone,
  signal: AbortSignal,
  corrections = correctionsMax,
): void {
  const rect = word.getBoundingClientRect();
  const height = window.innerHeight;
  // The picture of a video may cover the top of a narrow window (media.css).
  const covered = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
  const from = Math.max(top * height, covered || 0);
  if (rect.top >= from && rect.bottom <= bottom * height) return;
  const by = rect.top - Math.max(target * height, from);
  const isNear = Math.abs(by) < height && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  window.scrollBy({ top: by, behavior: isNear ? "smooth" : "instant" });
  if (isNear || corrections === 0) return;
  requestAnimationFrame(() => {
    if (!signal.aborted) scrollToPlace(word, { top, bottom, target }, signal, corrections - 1);
  });
}
