import { useEffect, type RefObject } from "react";
import { focusInView } from "../parts/focus-in-view.ts";
import type { Playback } from "./playback.ts";
import type { SpokenText } from "./spoken-text.ts";
import { paragraphsPerPart } from "./playback-highlight.ts";

/**
 * Makes the times in the margin one tab stop (roving tabindex): the arrow keys move between the
 * times, Home and End move to the first and the last, and Enter or a click plays from there. The
 * times remain links, which can be copied or opened elsewhere.
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
        const to = neighbor(text, paragraphOf(ground, target), key);
        if (to === undefined) return;
        event.preventDefault();
        const time = timeOf(ground, to);
        if (time) focusInView(time);
      },
      { signal },
    );
    ground.addEventListener(
      "click",
      (event) => {
        const { target } = event;
        if (!isTime(target) || event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        playback.seek(text.paragraphs[paragraphOf(ground, target)]?.start ?? 0);
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

function neighbor({ paragraphs }: SpokenText, paragraph: number, key: string): number | undefined {
  const last = paragraphs.length - 1;
  if (key === "ArrowDown") return Math.min(paragraph + 1, last);
  if (key === "ArrowUp") return Math.max(paragraph - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}

function paragraphOf(root: Element, time: Element): number {
  const segment = time.closest(".segment");
  const part = segment?.parentElement;
  if (!segment || !part) return 0;
  return [...root.children].indexOf(part) * paragraphsPerPart + [...part.children].indexOf(segment);
}

function timeOf(root: Element, paragraph: number): HTMLAnchorElement | null {
  const part = root.children[Math.floor(paragraph / paragraphsPerPart)];
  return part?.children[paragraph % paragraphsPerPart]?.querySelector("a") ?? null;
}
