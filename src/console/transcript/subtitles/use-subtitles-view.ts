import { type RefObject, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { type ScrollPlace, scrollPlaceOf } from "../edit/scroll-place.ts";
import { paragraphOfWord, type SpokenText, wordAt } from "../spoken-text.ts";
import { wordAtPoint } from "../word-at-point.ts";

/** Whether the page shows the text as subtitles (`?view=subtitles`), and where the user is. */
export interface SubtitlesView {
  readonly isOn: boolean;
  readonly toggle: () => void;
  /** The element of the subtitles. */
  readonly root: RefObject<HTMLDivElement | null>;
  /** The element in the picture that shows the current subtitle. */
  readonly caption: RefObject<HTMLParagraphElement | null>;
  /** The time that the subtitles show first; undefined at first. */
  readonly startMs: number | undefined;
  /** The place that the text shows first; undefined at first. */
  readonly place: ScrollPlace | undefined;
}

/** The distance from the top of the screen at which the text continues, in pixels. */
const placeTop = 160;

/** Goes over from the text to subtitles and back, at the same place. */
export function useSubtitlesView(
  textRoot: RefObject<HTMLElement | null>,
  text: SpokenText,
): SubtitlesView {
  const [search, setSearch] = useSearchParams();
  const isOn = search.get("view") === "subtitles";
  const root = useRef<HTMLDivElement>(null);
  const caption = useRef<HTMLParagraphElement>(null);
  const [seconds, setSeconds] = useState<number>();
  const [place, setPlace] = useState<ScrollPlace>();
  const toggle = (): void => {
    const now = isOn ? secondsOfSubtitles(root.current) : secondsOfText(textRoot.current, text);
    setSeconds(now);
    if (isOn && now !== undefined) {
      const paragraph = paragraphOfWord(text, Math.max(0, wordAt(text, now)));
      setPlace({ partHeights: [], paragraph, top: placeTop });
    }
    setSearch(
      (before) => {
        const after = new URLSearchParams(before);
        if (isOn) after.delete("view");
        else after.set("view", "subtitles");
        return after;
      },
      { replace: true },
    );
  };
  const startMs = seconds === undefined ? undefined : seconds * 1000;
  return { isOn, toggle, root, caption, startMs, place };
}

/** Returns the time of the first subtitle in view; undefined if the first of all is in view. */
function secondsOfSubtitles(root: HTMLElement | null): number | undefined {
  const at = root ? scrollPlaceOf(root).paragraph : 0;
  const cue = root?.querySelectorAll<HTMLElement>(".cue")[at];
  return at === 0 || !cue ? undefined : Number(cue.dataset["start"]) / 1000;
}

/** Returns the time of the first word in view; undefined if the first of all is in view. */
function secondsOfText(root: HTMLElement | null, text: SpokenText): number | undefined {
  if (!root) return undefined;
  const { paragraph, top } = scrollPlaceOf(root);
  if (paragraph === 0 && top >= 0) return undefined;
  const words = root.querySelectorAll(".segment p")[paragraph];
  const x = (words?.getBoundingClientRect().left ?? 0) + 8;
  const lines = top < 0 ? [8, 20, 32, 44, 56, 68] : [];
  const word = lines.map((y) => wordAtPoint(root, text, { x, y })).find((at) => at !== undefined);
  return word === undefined ? text.paragraphs[paragraph]?.start : text.starts[word];
}
