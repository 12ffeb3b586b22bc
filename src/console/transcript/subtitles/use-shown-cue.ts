import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import type { Cue } from "../../../cues/cue.ts";
import { openFollow } from "../follow.ts";
import type { Playback } from "../playback.ts";
import { cueAt, cueElement, cueIndexOf, lastCueAt } from "./shown-cue.ts";

/**
 * Connects subtitles with the playback: the current one is marked, kept in view and shown in the
 * picture, and a click on a subtitle seeks to its start. `shown` changes when more of them are
 * rendered.
 */
export function useShownCue(
  root: RefObject<HTMLElement | null>,
  cues: readonly Cue[],
  {
    playback,
    caption,
    shown,
  }: {
    readonly playback: Playback | undefined;
    /** The element in the picture that has the text of the current subtitle. */
    readonly caption: RefObject<HTMLElement | null>;
    readonly shown: number;
  },
): { readonly isFollowing: boolean; readonly follow: () => void } {
  const [isFollowing, setFollowing] = useState(true);
  const following = useRef(true);
  const bringIntoView = useRef<() => void>(undefined);
  const change = useCallback((next: boolean) => {
    following.current = next;
    setFollowing(next);
  }, []);
  useEffect(() => {
    const ground = root.current;
    if (!ground || !playback || shown === 0) return undefined;
    const follow = openFollow({
      isFollowing: () => following.current,
      onLeave: () => {
        if (playback.state.isPlaying) change(false);
      },
    });
    const marked = new MarkedCue(ground, cues, caption.current);
    const show = (seconds: number, isSought: boolean): void => {
      const isOther = marked.show(seconds * 1000);
      if (isSought) change(true);
      const near = cueElement(ground, Math.max(0, lastCueAt(cues, seconds * 1000)));
      if (near && (isOther || isSought)) follow.bringIntoView(near, isSought);
    };
    bringIntoView.current = () => show(playback.place, true);
    if (playback.state.isBegun) marked.show(playback.place * 1000);
    const stop = playback.onPlace(show);
    const onClick = ({ button, target }: MouseEvent): void => {
      // A click that selects text does not seek: the user wants to copy.
      if (button !== 0 || !getSelection()?.isCollapsed) return;
      const text = target instanceof Element ? target.closest(".cue p") : null;
      const at = text ? cueIndexOf(ground, text) : undefined;
      const cue = at === undefined ? undefined : cues[at];
      if (cue) playback.seek(cue.startMs / 1000);
    };
    ground.addEventListener("click", onClick);
    return () => {
      stop();
      ground.removeEventListener("click", onClick);
      follow[Symbol.dispose]();
      marked[Symbol.dispose]();
    };
  }, [root, cues, playback, caption, shown, change]);
  const follow = useCallback(() => bringIntoView.current?.(), []);
  return { isFollowing, follow };
}

/** The mark on the subtitle that is shown, and its text in the picture. */
class MarkedCue implements Disposable {
  readonly #root: HTMLElement;
  readonly #cues: readonly Cue[];
  readonly #caption: HTMLElement | null;
  #at: number | undefined;
  #element: Element | undefined;

  constructor(root: HTMLElement, cues: readonly Cue[], caption: HTMLElement | null) {
    this.#root = root;
    this.#cues = cues;
    this.#caption = caption;
  }

  /** Marks the subtitle of a time. Returns whether it is another one than before. */
  show(ms: number): boolean {
    const at = cueAt(this.#cues, ms);
    if (at === this.#at) return false;
    this.#element?.removeAttribute("data-now");
    this.#at = at;
    this.#element = at === undefined ? undefined : cueElement(this.#root, at);
    this.#element?.setAttribute("data-now", "");
    const lines = at === undefined ? [] : (this.#cues[at]?.lines ?? []);
    if (this.#caption) this.#caption.textContent = lines.join("\n");
    return true;
  }

  [Symbol.dispose](): void {
    this.#element?.removeAttribute("data-now");
    if (this.#caption) this.#caption.textContent = "";
  }
}
