import {
  defaultRangeExtractor,
  useWindowVirtualizer,
  type VirtualItem,
} from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/**
 * The height of the first row, which depends on its style and the user's font size. All rows have
 * this height, so that no row ever moves.
 */
let lastRowHeight = 85;
/** The number of rows rendered above and below the window. */
const overscan = 8;

/** The rows of a list that are in the window, and their positions. */
export function useRowWindow(
  count: number,
  /** The row that stays rendered, together with the rows next to it, wherever the window is. */
  held: number | undefined,
): {
  readonly list: RefObject<HTMLUListElement | null>;
  readonly first: number;
  readonly last: number;
  readonly items: readonly VirtualItem[];
  /** The position of the list in the page; the `start` of an item is also relative to the page. */
  readonly top: number;
  readonly height: number;
} {
  const list = useRef<HTMLUListElement>(null);
  const [{ top, rowHeight }, setSizes] = useState({ top: 0, rowHeight: lastRowHeight });
  // oxlint-disable-next-line react/incompatible-library -- the React compiler is not used
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: useCallback(() => rowHeight, [rowHeight]),
    overscan,
    scrollMargin: top,
    rangeExtractor: (range) => {
      const rows = defaultRangeExtractor(range);
      if (held === undefined) return rows;
      const all = new Set(rows);
      for (const row of [held - 1, held, held + 1]) if (row >= 0 && row < count) all.add(row);
      return [...all].toSorted((a, b) => a - b);
    },
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowHeight]);
  const isFilled = count > 0;
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    const measure = () => {
      const position = Math.round(element.getBoundingClientRect().top + window.scrollY);
      const size = element.querySelector("li")?.getBoundingClientRect().height ?? lastRowHeight;
      lastRowHeight = size;
      setSizes((before) =>
        before.top === position && before.rowHeight === size
          ? before
          : { top: position, rowHeight: size },
      );
    };
    measure();
    // The content above the list may grow, and rows may grow with the font size.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [isFilled]);
  const { startIndex = 0, endIndex = 0 } = virtualizer.range ?? {};
  return {
    list,
    first: startIndex,
    last: endIndex,
    items: virtualizer.getVirtualItems(),
    top,
    height: virtualizer.getTotalSize(),
  };
}
