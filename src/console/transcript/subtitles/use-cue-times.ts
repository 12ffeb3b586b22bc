import { useEffect, type RefObject } from "react";
import type { Cue } from "../../../cues/cue.ts";
import { focusInView } from "../../parts/focus-in-view.ts";
import type { Playback } from "../playback.ts";
import { cueElement, cueIndexOf } from "./shown-cue.ts";

/**
 * Makes the times of subtitles one tab stop, as those of the text are (use-roving.ts): the arrow
 * keys, Home and End move between them, and Enter or a click plays from there.
 */
export function useCueTimes(
  root: RefObject<HTMLElement | null>,
  cues: readonly Cue[],
  playback: Playback | undefined,
): void {
  useEffect(() => {
    const ground = root.current;
    if (!ground || !playback) return undefined;
    const listening = new AbortController();
    const { signal } = listening;
    const on = <Name extends "focusin" | "keydown" | "click">(
      name: Name,
      listener: (event: HTMLElementEventMap[Name], time: HTMLElement, at: number) => void,
    ): void => {
      const listen = (event: HTMLElementEventMap[Name]): void => {
        const { target } = event;
        if (!(target instanceof HTMLElement) || !target.matches("a.cue-time")) return;
        const at = cueIndexOf(ground, target);
        if (at !== undefined) listener(event, target, at);
      };
      ground.addEventListener(name, listen, { signal });
    };
    on("focusin", (_event, time) => {
      ground.querySelector('a.cue-time[tabindex="0"]')?.setAttribute("tabindex", "-1");
      time.tabIndex = 0;
    });
    on("keydown", (event, _time, at) => {
      if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
      const to = neighbor(at, cues.length - 1, event.key);
      if (to === undefined) return;
      event.preventDefault();
      focusCue(ground, to);
    });
    on("click", (event, _time, at) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      playback.seek((cues[at]?.startMs ?? 0) / 1000);
      playback.play();
    });
    return () => listening.abort();
  }, [root, cues, playback]);
}

/** Gives the focus to the time of a subtitle, and brings it into view. */
export function focusCue(root: Element, at: number): void {
  const time = cueElement(root, at)?.querySelector<HTMLElement>(".cue-time");
  if (time) focusInView(time);
}

function neighbor(at: number, last: number, key: string): number | undefined {
  if (key === "ArrowDown") return Math.min(at + 1, last);
  if (key === "ArrowUp") return Math.max(at - 1, 0);
  if (key === "Home") return 0;
  return key === "End" ? last : undefined;
}
