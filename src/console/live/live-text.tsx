import { memo, useEffect, useRef } from "react";
import { useAnnounce } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import type { LiveState } from "./live-state.ts";
import { textOf, type Utterance } from "./spoken.ts";
import { useFollowEnd } from "./use-follow-end.ts";
import "./live-text.css";

/**
 * The recognized text in large type. Final words are dark, and words that may still change are
 * faint.
 */
export function LiveText({
  state: { spoken, languageCode, phase },
  onShown,
}: {
  readonly state: LiveState;
  readonly onShown: (at: number | undefined) => void;
}) {
  const t = useText();
  const { end, isFollowing, follow } = useFollowEnd(spoken);
  useFinalsRead(spoken.paragraphs);
  useEffect(() => {
    // The words become visible in the next frame.
    if (document.hidden) onShown(undefined);
    else requestAnimationFrame(() => onShown(Date.now()));
    // oxlint-disable-next-line react/exhaustive-effect-dependencies -- each change of `spoken` is one more text that was shown
  }, [spoken, onShown]);
  const { paragraphs, interim } = spoken;
  const isEmpty = paragraphs.length === 0 && interim.length === 0;
  return (
    <section className="live-text" lang={isEmpty ? undefined : languageCode}>
      {paragraphs.slice(0, -1).map((paragraph) => (
        <p key={paragraph[0]?.id} dir="auto">
          <Said utterances={paragraph} />
        </p>
      ))}
      {isEmpty ? (
        <p className="live-faint">{phase !== "listening" && t(liveText.invitation)}</p>
      ) : (
        <p dir="auto">
          <Said utterances={paragraphs.at(-1) ?? []} />
          {/* This text is hidden from screen readers, because it changes with each word. */}
          <span className="live-faint" aria-hidden="true">
            {textOf(interim)}
          </span>
        </p>
      )}
      <div ref={end} className="live-end" />
      {!isFollowing && (
        <Button className="live-to-end" onPress={follow}>
          {t(liveText.toEnd)}
        </Button>
      )}
    </section>
  );
}

const Said = memo(({ utterances }: { readonly utterances: readonly Utterance[] }) =>
  utterances.map(({ id, words }) => (
    <span key={id} className="live-said">
      {textOf(words)}{" "}
    </span>
  )),
);
Said.displayName = "Said";

/** Announces each final result once. */
function useFinalsRead(paragraphs: LiveState["spoken"]["paragraphs"]): void {
  const announce = useAnnounce();
  const last = paragraphs.at(-1)?.at(-1);
  const read = useRef(last);
  useEffect(() => {
    if (last && last !== read.current) announce(textOf(last.words));
    read.current = last;
  }, [last, announce]);
}
