import { useEffect, useState } from "react";
import { useSearch } from "wouter";
import type { TranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { secondsOf } from "../text/numbers.ts";
import { Playback } from "./playback.ts";
import { spokenText, type SpokenText } from "./spoken-text.ts";

/**
 * The text of a transcript. The same version always returns the same object, although each response
 * has new URLs.
 */
export function useTextOf({ version, segments }: TranscriptJson): SpokenText {
  const id = version?.name;
  const [shown, setShown] = useState(() => ({ id, text: spokenText(segments ?? []) }));
  if (shown.id === id) return shown.text;
  const text = spokenText(segments ?? []);
  setShown({ id, text });
  return text;
}

/** The position in the address, in seconds (`?t=`). */
export function usePlaceInAddress(): number | undefined {
  const named = new URLSearchParams(useSearch()).get("t");
  const seconds = Number.parseFloat(named ?? "");
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
}

/**
 * The playback of a transcript, which begins at `start` and moves to a new place in the address.
 */
export function usePlaybackOf(
  { metadata }: TranscriptJson,
  start: number,
  place: number | undefined,
): Playback {
  const [playback] = useState(
    () => new Playback({ duration: secondsOf(metadata?.recordingDuration ?? undefined), start }),
  );
  useEffect(() => {
    if (place !== undefined && playback.place !== place) playback.seek(place);
  }, [place, playback]);
  return playback;
}
