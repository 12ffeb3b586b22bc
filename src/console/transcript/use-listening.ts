import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { openFollow } from "./follow.ts";
import { PlaybackHighlight } from "./playback-highlight.ts";
import type { Playback } from "./playback.ts";
import type { SpokenText } from "./spoken-text.ts";
import { wordAtPoint } from "./word-at-point.ts";

/**
 * Connects a text with its playback: it highlights the current word, keeps this word in view, and
 * seeks to a word that is clicked. `shown` changes when more of the text is rendered.
 * `startsAtPlace` indicates whether the playback has a place, from the address or from the last
 * visit, which is then brought into view first.
 */
export function useListening(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  {
    playback,
    shown,
    startsAtPlace,
  }: {
    readonly playback: Playback | undefined;
    readonly shown: number;
    readonly startsAtPlace: boolean;
  },
): { readonly isFollowing: boolean; readonly follow: () => void } {
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const needsView = useRef(startsAtPlace);
  const change = useCallback((next: boolean) => {
    following.current = next;
    setFollowing(next);
  }, []);
  const bringIntoView = useRef<() => void>(undefined);
  useEffect(() => {
    const ground = root.current;
    if (!ground || !playback || shown === 0) return undefined;
    const highlight = new PlaybackHighlight(ground, text);
    const follow = openFollow({
      isFollowing: () => following.current,
      onLeave: () => {
        if (playback.state.isPlaying) change(false);
      },
    });
    const show = (seconds: number, isSought: boolean): void => {
      const isOther = highlight.show(seconds);
      if (isSought) change(true);
      const word = isOther || isSought ? highlight.range() : undefined;
      if (word) follow.bringIntoView(word, isSought);
    };
    bringIntoView.current = () => {
      const word = highlight.range();
      if (word) follow.bringIntoView(word, true);
    };
    if (playback.state.isBegun) highlight.show(playback.place);
    if (needsView.current && highlight.range()) {
      needsView.current = false;
      bringIntoView.current();
    }
    const stop = playback.onPlace(show);
    const onClick = (event: MouseEvent): void => {
      // A click that selects text does not seek: the user wants to copy.
      if (event.button !== 0 || !getSelection()?.isCollapsed) return;
      const word = wordAtPoint(ground, text, event);
      const start = word === undefined ? undefined : text.starts[word];
      if (start !== undefined) playback.seek(start);
    };
    ground.addEventListener("click", onClick);
    return () => {
      stop();
      ground.removeEventListener("click", onClick);
      follow[Symbol.dispose]();
      highlight[Symbol.dispose]();
    };
  }, [root, text, playback, shown, change]);
  const follow = useCallback(() => {
    change(true);
    bringIntoView.current?.();
  }, [change]);
  return { isFollowing, follow };
}
