import { useEffect, useRef } from "react";
import { clockText } from "../../text/numbers.ts";
import { usePlaybackState, type Playback } from "../playback.ts";

/** The elapsed and total time, such as "0:16 / 48:13", updated once a second without rendering. */
export function Clock({ playback }: { readonly playback: Playback }) {
  const { duration } = usePlaybackState(playback);
  const at = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const show = (seconds: number): void => {
      const text = clockText(seconds);
      if (at.current && at.current.textContent !== text) at.current.textContent = text;
    };
    show(playback.place);
    return playback.onPlace(show);
  }, [playback]);
  return (
    <span className="player-clock">
      <span ref={at} /> / {clockText(duration)}
    </span>
  );
}
