import { useEffect, type RefObject } from "react";
import { focusInSight } from "../parts/focus-in-sight.ts";
import type { Playback } from "./playback.ts";
import type { SpokenText } from "./spoken-text.ts";
import { piecesOfPart } from "./heard-light.ts";

/**
 * Makes the times in the margin one stop of the keyboard: up and down go from one to the next, Home
 * and End to the first and the last, and Enter, or a press, plays from there. They stay links to
 * their places, to be copied or opened elsewhere.
 */
export function useRoving(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  playback: Playback | undefined,
): void {
  useEffect(() => {
    const ground = root.current;
    if (!ground || !playback) return undefined;
    const listening = new AbortController();
    const { signal } = listening;
    ground.addEventListener(
      "focusin",
      ({ target }) => {
        if (!isTime(target)) return;
        ground.querySelector('a.segment-time[tabindex="0"]')?.setAttribute("tabindex", "-1");
        target.tabIndex = 0;
      },
      { signal },
    );
    ground.addEventListener(
      "keydown",
      (event) => {
        const { target, key } = event;
        if (!isTime(target) || event.shiftKey || event.altKey || event.ctrlKey) return;
        const to = neighbor(text, pieceOf(ground, target), key);
        if (to === undefined) return;
        event.preventDefault();
        const time = timeOf(ground, to);
        if (time) focusInSight(time);
      },
      { signal },
    );
    ground.addEventListener(
      "click",
      (event) => {
        const { target } = event;
        if (!isTime(target) || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        playback.seek(text.pieces[pieceOf(ground, target)]?.start ?? 0);
        playback.play();
      },
      { signal },
    );
    return () => listening.abort();
  }, [root, text, playback]);
}

function isTime(target: EventTarget | null): target is HTMLAnchorElement {
  return target instanceof HTMLAnchorElement && target.classList.contains("segment-time");
}

function neighbor({ pieces }: SpokenText, piece: number, key: string): number | undefined {
  const last = pieces.length - 1;
  if (key === "ArrowDown") return Math.min(piece + 1, last);
  if (key === "ArrowUp") return Math.max(piece - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}

function pieceOf(root: Element, time: Element): number {
  const segment = time.closest(".segment");
  const part = segment?.parentElement;
  if (!segment || !part) return 0;
  return [...root.children].indexOf(part) * piecesOfPart + [...part.children].indexOf(segment);
}

function timeOf(root: Element, piece: number): HTMLAnchorElement | null {
  const part = root.children[Math.floor(piece / piecesOfPart)];
  return part?.children[piece % piecesOfPart]?.querySelector("a") ?? null;
}
