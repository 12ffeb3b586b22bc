import { type RefObject, useEffect, useLayoutEffect } from "react";
import { keepPlace, placeHere } from "../frame/page-place.ts";
import { titleOf } from "./use-focused-row.ts";

/** Browsers take few changes of the history in a row: the place is kept once scrolling rests. */
const restMs = 150;

/** Brings the reader of a list back to where they left it, and keeps where they are. */
export function useKeptPlace(
  reading: number,
  row: number | undefined,
  list: RefObject<HTMLElement | null>,
): void {
  useLayoutEffect(() => {
    const place = placeHere();
    const isBack = place?.list === reading;
    window.scrollTo(0, isBack ? place.top : 0);
    // Its row is in the page from the next frame on.
    if (!isBack || place.row === undefined) return undefined;
    const kept = place.row;
    const frame = requestAnimationFrame(() => {
      if (list.current) titleOf(list.current, kept)?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [reading, list]);
  useEffect(() => {
    let timer: number | undefined;
    const keep = () => keepPlace({ top: window.scrollY, list: reading, row });
    const keepLater = () => {
      clearTimeout(timer);
      timer = window.setTimeout(keep, restMs);
    };
    keep();
    window.addEventListener("scroll", keepLater, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener("scroll", keepLater);
    };
  }, [reading, row]);
}
