import { type RefObject, useEffect, useRef, useState } from "react";
import { finderOf } from "../edit/model/find.ts";
import { scrollPlaceOf } from "../edit/scroll-place.ts";
import type { SpokenText } from "../spoken-text.ts";
import { runInSlices } from "../subtitles/run-in-slices.ts";
import { firstHitFrom, type Hit, hitAt, type Hits, hitsInSteps, noHits } from "./hits-in-text.ts";
import { paintCurrentHit, paintHits } from "./painted-hits.ts";

/** The hits of a phrase in a text, and the one to which the user has gone. */
export interface FoundHits {
  /** The phrase that they are of: while it is looked for, the previous one. */
  readonly phrase: string;
  readonly hits: Hits;
  /** The index of the hit to which the user has gone; -1 if there is none. */
  readonly at: number;
  /** Goes to a hit. */
  readonly goTo: (index: number) => void;
  /** Goes to the next or the previous hit; first, to one near the place in view. */
  readonly go: (by: 1 | -1) => void;
}

const none = { phrase: "", hits: noHits, at: -1 };

/**
 * Looks for a phrase in a text, in slices between which the page stays responsive, and paints the
 * hits. `onShow` is called with the hit to which the user goes.
 */
export function useHits(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  { phrase, onShow }: { readonly phrase: string; readonly onShow: (hit: Hit) => void },
): FoundHits {
  const [last, setFound] = useState({ ...none, text });
  // Hits of another version are at other places.
  const found = last.text === text ? last : { ...none, text };
  const { hits, at } = found;
  /** Where the user goes as soon as the phrase is found. */
  const waiting = useRef<1 | -1>(undefined);
  const show = (of: typeof found, index: number): void => {
    setFound({ ...of, at: index });
    const hit = hitAt(of.hits, index);
    if (hit) onShow(hit);
  };
  const go = (by: 1 | -1): void => {
    if (found.phrase === phrase) show(found, nextOf(found, by, root.current));
    else waiting.current = by;
  };
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  useEffect(() => {
    const finder = finderOf({ text: phrase, isCaseExact: false, isWholeWords: false });
    const looking = new AbortController();
    waiting.current = undefined;
    const work = finder ? hitsInSteps(text, finder) : nothing();
    const look = async (): Promise<void> => {
      const all = await runInSlices(work, looking.signal);
      if (!all || looking.signal.aborted) return;
      const next = { text, phrase, hits: all, at: -1 };
      const by = waiting.current;
      if (by === undefined) setFound(next);
      else latest.current(next, nextOf(next, by, root.current));
    };
    void look();
    return () => looking.abort();
  }, [root, text, phrase]);
  useEffect(() => {
    if (!root.current) return undefined;
    const painted = paintHits(root.current, hits);
    return () => painted[Symbol.dispose]();
  }, [root, hits]);
  useEffect(() => {
    const hit = hitAt(hits, at);
    if (!root.current || !hit) return undefined;
    const painted = paintCurrentHit(root.current, hit);
    return () => painted[Symbol.dispose]();
  }, [root, hits, at]);
  return { ...found, goTo: (index) => show(found, index), go };
}

// oxlint-disable-next-line require-yield -- there is nothing to do
function* nothing(): Generator<void, Hits, void> {
  return noHits;
}

/** Returns the index of the next or the previous hit; after the last one comes the first. */
function nextOf(
  { hits, at }: { readonly hits: Hits; readonly at: number },
  by: 1 | -1,
  root: HTMLElement | null,
): number {
  const count = hits.paragraphs.length;
  if (count === 0) return -1;
  if (at >= 0) return (at + by + count) % count;
  const inView = root ? firstHitFrom(hits, scrollPlaceOf(root).paragraph) : 0;
  return (by > 0 ? inView : inView - 1 + count) % count;
}
