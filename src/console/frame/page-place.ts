/**
 * Where on a page its reader was: kept in the entry of the browser's history, for when they come
 * back to it.
 */
export interface PagePlace {
  /** Pixels above the window. */
  readonly top: number;
  /**
   * Which reading of a list it was (transcripts/reading.ts), and in which row the keyboard stood.
   */
  readonly list?: number | undefined;
  readonly row?: number | undefined;
}

/** The place that the entry has kept; undefined on a page that was gone to. */
export function placeHere(): PagePlace | undefined {
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

export function keepPlace(place: PagePlace): void {
  history.replaceState({ ...place }, "");
}
