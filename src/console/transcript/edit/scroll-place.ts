/** Where the user is in the text, so that reading and editing show the same place. */
export interface ScrollPlace {
  /** The heights of the parts in pixels. */
  readonly partHeights: readonly number[];
  /** The index of the first paragraph in view, and its distance from the top of the screen. */
  readonly paragraph: number;
  readonly top: number;
}

/**
 * The maximum number of corrections. Parts have an assumed height until they are laid out, so the
 * first position may be wrong.
 */
const correctionsMax = 4;

/** Measures the place. The children of `root` are parts, and their children are paragraphs. */
export function scrollPlaceOf(root: HTMLElement): ScrollPlace {
  const parts = [...root.children];
  const rects = parts.map((part) => part.getBoundingClientRect());
  const partHeights = rects.map(({ height }) => height);
  const inView = Math.max(
    0,
    rects.findIndex(({ bottom }) => bottom > 0),
  );
  const before = parts.slice(0, inView).reduce((sum, { children }) => sum + children.length, 0);
  const paragraphs = [...(parts[inView]?.children ?? [])];
  const at = Math.max(
    0,
    paragraphs.findIndex((one) => one.getBoundingClientRect().bottom > 0),
  );
  const top = paragraphs[at]?.getBoundingClientRect().top ?? 0;
  return { partHeights, paragraph: before + at, top };
}

/** Scrolls without animation so that the paragraph of a place is where it was. */
export function restoreScroll(root: HTMLElement, { paragraph, top }: ScrollPlace): void {
  const element = paragraphElement(root, paragraph);
  if (!element) return;
  for (let at = 0; at < correctionsMax; at++) {
    const by = element.getBoundingClientRect().top - top;
    if (Math.abs(by) < 1) return;
    window.scrollBy({ top: by, behavior: "instant" });
  }
}

function paragraphElement(root: HTMLElement, index: number): Element | undefined {
  let first = 0;
  for (const { children } of root.children) {
    if (index < first + children.length) return children[index - first];
    first += children.length;
  }
  return undefined;
}
