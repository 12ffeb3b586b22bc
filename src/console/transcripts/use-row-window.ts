import {
  defaultRangeExtractor,
  useWindowVirtualizer,
  type VirtualItem,
} from "@tanstack/react-virtual";
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";

/**
 * All rows are as high as the first one, which is as high as its style and the reader's size of
 * type make it: so no row ever moves.
 */
let lastRowHeight = 85;
/** Rows that are ready above and below the window. */
const overscan = 8;

/** Which of a list's rows are in the window, and where they stand. */
export function useRowWindow(
  count: number,
  /** A row that stays in the page with those beside it, wherever the window is. */
  held: number | undefined,
): {
  readonly list: RefObject<HTMLUListElement | null>;
  readonly first: number;
  readonly last: number;
  readonly items: readonly VirtualItem[];
  /** Where the list begins in the page: what `start` of items counts from, too. */
  readonly top: number;
  readonly height: number;
} {
  const list = useRef<HTMLUListElement>(null);
  const [{ top, rowHeight }, setSizes] = useState({ top: 0, rowHeight: lastRowHeight });
  // oxlint-disable-next-line react/incompatible-library -- no compiler keeps what it answers
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
    const look = () => {
      const place = Math.round(element.getBoundingClientRect().top + window.scrollY);
      const size = element.querySelector("li")?.getBoundingClientRect().height ?? lastRowHeight;
      lastRowHeight = size;
      setSizes((before) =>
        before.top === place && before.rowHeight === size
          ? before
          : { top: place, rowHeight: size },
      );
    };
    look();
    // What stands above the list grows, and so do rows with the size of type.
    const observer = new ResizeObserver(look);
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
