import { useEffect } from "react";
import type { Playback } from "../playback.ts";

const actions = [
  "play",
  "pause",
  "previoustrack",
  "nexttrack",
  "seekbackward",
  "seekforward",
  "seekto",
] as const satisfies MediaSessionAction[];

/** Lets the device's media keys control the playback, and shows the title on its screen. */
export function useMediaSession(playback: Playback, title: string): void {
  useEffect(() => {
    const { mediaSession } = navigator;
    if (!("mediaSession" in navigator)) return undefined;
    mediaSession.metadata = new MediaMetadata({ title, artist: "Hlust" });
    const handlers: Record<(typeof actions)[number], MediaSessionActionHandler> = {
      play: () => playback.mediaKeys.play(),
      pause: () => playback.mediaKeys.pause(),
      previoustrack: () => playback.mediaKeys.previous(),
      nexttrack: () => playback.mediaKeys.next(),
      seekbackward: ({ seekOffset }) => playback.mediaKeys.back(seekOffset),
      seekforward: ({ seekOffset }) => playback.mediaKeys.forward(seekOffset),
      seekto: ({ seekTime }) => {
        if (seekTime !== undefined) playback.seek(seekTime);
      },
    };
    for (const action of actions) mediaSession.setActionHandler(action, handlers[action]);
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
