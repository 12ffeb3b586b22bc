import { useEffect } from "react";
import type { Playback } from "../playback.ts";

/** Lets the device's media keys control the playback, and shows the title on its screen. */
export function useMediaSession(playback: Playback, title: string): void {
  useEffect(() => {
    const { mediaSession } = navigator;
    if (!("mediaSession" in navigator)) return undefined;
    mediaSession.metadata = new MediaMetadata({ title, artist: "Hlust" });
    const handlers: Partial<Record<MediaSessionAction, MediaSessionActionHandler>> = {
      play: () => playback.play(),
      pause: () => playback.pause(),
      seekbackward: ({ seekOffset = 5 }) => playback.skip(-seekOffset),
      seekforward: ({ seekOffset = 5 }) => playback.skip(seekOffset),
      seekto: ({ seekTime }) => {
        if (seekTime !== undefined) playback.seek(seekTime);
      },
    };
    const actions = [
      "play",
      "pause",
      "seekbackward",
      "seekforward",
      "seekto",
    ] as const satisfies MediaSessionAction[];
    for (const action of actions) mediaSession.setActionHandler(action, handlers[action] ?? null);
    const show = (): void => {
      const { duration, rate, isPlaying } = playback.state;
      mediaSession.playbackState = isPlaying ? "playing" : "paused";
      if (duration > 0) {
        const position = Math.min(playback.place, duration);
        mediaSession.setPositionState({ duration, position, playbackRate: rate });
      }
    };
    const stop = playback.subscribe(show);
    return () => {
      stop();
      mediaSession.metadata = null;
      mediaSession.playbackState = "none";
      for (const action of actions) mediaSession.setActionHandler(action, null);
    };
  }, [playback, title]);
}
