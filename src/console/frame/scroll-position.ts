/**
 * A scroll position. It is stored in the entry of the browser's history, for when the user comes
 * back.
 */
export interface ScrollPosition {
  /** The number of pixels that are scrolled past the top of the window. */
  readonly top: number;
  /** The id of the list (transcripts/list-pages.ts), and the row that had the focus. */
  readonly list?: number | undefined;
  readonly row?: number | undefined;
}

/**
 * Returns the position stored in the current entry, or undefined for a page that was newly opened.
 */
export function savedScrollPosition(): ScrollPosition | undefined {
  const state: unknown = history.state;
  if (typeof state !== "object" || state === null || !("top" in state)) return undefined;
  const top = numberOf(state.top);
  if (top === undefined) return undefined;
  return {
    top,
    list: numberOf("list" in state ? state.list : undefined),
    row: numberOf("row" in state ? state.row : undefined),
  };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function saveScrollPosition(position: ScrollPosition): void {
  history.replaceState({ ...position }, "");
}
