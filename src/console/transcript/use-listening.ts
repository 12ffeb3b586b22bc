import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { openFollow } from "./follow.ts";
import { HeardLight } from "./heard-light.ts";
import type { Playback } from "./playback.ts";
import type { SpokenText } from "./spoken-text.ts";
import { wordAtPoint } from "./word-at-point.ts";

/**
 * Lets a text be heard: it shows the word under way, follows it, and a press on a word goes to it.
 * `shown` changes when more of the text is there. `isGoneTo`: the address names a place, which is
 * brought into sight first.
 */
export function useListening(
  root: RefObject<HTMLElement | null>,
  text: SpokenText,
  {
    playback,
    shown,
    isGoneTo,
  }: {
    readonly playback: Playback | undefined;
    readonly shown: number;
    readonly isGoneTo: boolean;
  },
): { readonly isFollowing: boolean; readonly follow: () => void } {
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const wantsSight = useRef(isGoneTo);
  const change = useCallback((next: boolean) => {
    following.current = next;
    setFollowing(next);
  }, []);
  const bring = useRef<() => void>(undefined);
  useEffect(() => {
    const ground = root.current;
    if (!ground || !playback || shown === 0) return undefined;
    const light = new HeardLight(ground, text);
    const follow = openFollow({
      isFollowing: () => following.current,
      onLeave: () => {
        if (playback.state.isPlaying) change(false);
      },
    });
    const show = (seconds: number, isSought: boolean): void => {
      const isOther = light.show(seconds);
      if (isSought) change(true);
      const word = isOther || isSought ? light.range() : undefined;
      if (word) follow.bring(word, isSought);
    };
    bring.current = () => {
      const word = light.range();
      if (word) follow.bring(word, true);
    };
    if (playback.state.isBegun) light.show(playback.place);
    if (wantsSight.current && light.range()) {
      wantsSight.current = false;
      bring.current();
    }
    const stop = playback.onPlace(show);
    const press = (event: MouseEvent): void => {
      // Whoever marks text wants to copy it.
      if (event.button !== 0 || !getSelection()?.isCollapsed) return;
      const word = wordAtPoint(ground, text, event);
      const start = word === undefined ? undefined : text.starts[word];
      if (start !== undefined) playback.seek(start);
    };
    ground.addEventListener("click", press);
    return () => {
      stop();
      ground.removeEventListener("click", press);
      follow[Symbol.dispose]();
      light[Symbol.dispose]();
    };
  }, [root, text, playback, shown, change]);
  const follow = useCallback(() => {
    change(true);
    bring.current?.();
  }, [change]);
  return { isFollowing, follow };
}
