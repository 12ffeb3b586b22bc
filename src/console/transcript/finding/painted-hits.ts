import { paragraphsPerPart, textNodeOf } from "../playback-highlight.ts";
import { firstHitFrom, type Hit, hitAt, type Hits } from "./hits-in-text.ts";

/**
 * Paints hits with a CSS highlight in the parts that are near the screen, since the time that
 * browsers take to paint rises with the number of ranges. `root` is the same as in
 * PlaybackHighlight. Browsers without CSS highlights show the text as it is. Disposing of the
 * result removes what is painted.
 */
export function paintHits(root: HTMLElement, hits: Hits): Disposable {
  if (!("highlights" in CSS)) return { [Symbol.dispose]() {} };
  const near = new Set<Element>();
  const watched = new Set<Element>();
  const paint = (): void => {
    const highlight = new Highlight();
    for (const [at, part] of [...root.children].entries()) {
      if (!near.has(part)) continue;
      const end = firstHitFrom(hits, (at + 1) * paragraphsPerPart);
      for (let index = firstHitFrom(hits, at * paragraphsPerPart); index < end; index += 1) {
        const bounds = boundsOf(root, hitAt(hits, index));
        if (bounds) highlight.add(new StaticRange(bounds));
      }
    }
    CSS.highlights.set("hlust-hit", highlight);
  };
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) near.add(target);
        else near.delete(target);
      }
      paint();
    },
    { rootMargin: "25% 0px" },
  );
  const watchParts = (): void => {
    for (const part of root.children) {
      if (!watched.has(part)) seen.observe(part);
      watched.add(part);
    }
  };
  watchParts();
  // The parts of a long text are rendered one after the other.
  const added = new MutationObserver(watchParts);
  added.observe(root, { childList: true });
  return {
    [Symbol.dispose]() {
      seen.disconnect();
      added.disconnect();
      CSS.highlights.delete("hlust-hit");
    },
  };
}

/** Paints the hit to which the user has gone. */
export function paintCurrentHit(root: HTMLElement, hit: Hit): Disposable {
  const bounds = boundsOf(root, hit);
  if (bounds && "highlights" in CSS) {
    const highlight = new Highlight(new StaticRange(bounds));
    highlight.priority = 1;
    CSS.highlights.set("hlust-hit-now", highlight);
  }
  return { [Symbol.dispose]: () => void CSS.highlights?.delete("hlust-hit-now") };
}

/** Returns the range of a hit; undefined while its paragraph is not rendered. */
export function rangeOf(root: HTMLElement, hit: Hit): Range | undefined {
  const bounds = boundsOf(root, hit);
  if (!bounds) return undefined;
  const range = document.createRange();
  range.setStart(bounds.startContainer, bounds.startOffset);
  range.setEnd(bounds.endContainer, bounds.endOffset);
  return range;
}

function boundsOf(root: HTMLElement, hit: Hit | undefined): StaticRangeInit | undefined {
  const node = hit && textNodeOf(root, hit.paragraph);
  if (!node) return undefined;
  return {
    startContainer: node,
    startOffset: hit.from,
    endContainer: node,
    endOffset: hit.to,
  };
}
