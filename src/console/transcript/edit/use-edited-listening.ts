import { useCallback, useEffect, useRef, useState } from "react";
import { openFollow } from "../follow.ts";
import type { Playback } from "../playback.ts";
import type { Editor } from "./editor/editor.ts";
import { PlayedWord } from "./editor/played-word.ts";

/** How long the text does not scroll after the user has typed. */
const typedMs = 5_000;

/**
 * Highlights the word that is played in the edited text, and keeps it in view, unless the user has
 * scrolled away or works at the caret. The sound continues where it is.
 */
export function useEditedListening(
  editor: Editor | undefined,
  playback: Playback | undefined,
): { readonly isFollowing: boolean; readonly follow: () => void } {
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const change = useCallback((next: boolean) => {
    following.current = next;
    setFollowing(next);
  }, []);
  const bringIntoView = useRef<() => void>(undefined);
  useEffect(() => {
    if (!editor || !playback) return undefined;
    const played = new PlayedWord(editor.view, editor.places);
    let typedAt = -typedMs;
    const stopTyping = editor.subscribe(({ removed, inserted }) => {
      const isText = removed > 0 || inserted > 0;
      if (isText) typedAt = performance.now();
      // The times of words may have been set.
      else if (playback.state.isBegun) played.show(playback.place);
    });
    const follow = openFollow({
      isFollowing: () => following.current,
      onLeave: () => {
        if (playback.state.isPlaying) change(false);
      },
    });
    const show = (seconds: number, isSought: boolean): void => {
      const isOther = played.show(seconds);
      if (isSought) change(true);
      // Finding the caret on the screen costs layout, so it is done only for another word.
      const isAtWork = () => performance.now() - typedAt < typedMs || isCaretInView(editor);
      const word = isSought || (isOther && !isAtWork()) ? played.range() : undefined;
      if (word) follow.bringIntoView(word, isSought);
    };
    bringIntoView.current = () => {
      const word = played.range();
      if (word) follow.bringIntoView(word, true);
    };
    if (playback.state.isBegun) played.show(playback.place);
    const stop = playback.onPlace(show);
    return () => {
      stop();
      stopTyping();
      follow[Symbol.dispose]();
      played[Symbol.dispose]();
    };
  }, [editor, playback, change]);
  const follow = useCallback(() => {
    change(true);
    bringIntoView.current?.();
  }, [change]);
  return { isFollowing, follow };
}

/** Whether the user's caret is in a paragraph that is on the screen. */
function isCaretInView({ view }: Editor): boolean {
  const { $head } = view.state.selection;
  if (!view.hasFocus() || $head.depth < 2) return false;
  const element = view.nodeDOM($head.before(2));
  if (!(element instanceof Element)) return false;
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < window.innerHeight;
}
