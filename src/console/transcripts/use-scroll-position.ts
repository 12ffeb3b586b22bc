import { type RefObject, useEffect, useLayoutEffect } from "react";
import { savedScrollPosition, saveScrollPosition } from "../frame/scroll-position.ts";
import { titleOf } from "./use-focused-row.ts";

/**
 * The position is saved when scrolling has paused for this long, because browsers limit changes to
 * the history.
 */
const pauseMs = 150;

/** Restores the scroll position and the focused row of a list, and saves them. */
export function useScrollPosition(
  listId: number,
  row: number | undefined,
  list: RefObject<HTMLElement | null>,
): void {
  useLayoutEffect(() => {
    const saved = savedScrollPosition();
    const isBack = saved?.list === listId;
    window.scrollTo(0, isBack ? saved.top : 0);
    // The row is rendered in the next frame.
    if (!isBack || saved.row === undefined) return undefined;
    const { row: focused } = saved;
    const frame = requestAnimationFrame(() => {
      if (list.current) titleOf(list.current, focused)?.focus({ preventScroll: true });
    });
    return () => cancelAnimationFrame(frame);
  }, [listId, list]);
  useEffect(() => {
    let timer: number | undefined;
    const save = () => saveScrollPosition({ top: window.scrollY, list: listId, row });
    const saveLater = () => {
      clearTimeout(timer);
      timer = window.setTimeout(save, pauseMs);
    };
    save();
    window.addEventListener("scroll", saveLater, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener("scroll", saveLater);
    };
  }, [listId, row]);
}
