import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useText } from "../../text/language.tsx";
import { clockText } from "../../text/numbers.ts";
import { transcriptText } from "../../text/transcript.ts";
import { usePlaybackState, type Playback } from "../playback.ts";
import { barsOf, fetchWaveform } from "./waveform.ts";

/** The width of a bar including the gap after it, and the height of the highest bar, in pixels. */
const shape = { step: 5, height: 44 };
/** How often the played part grows during playback: each time, the browser paints the waveform. */
const playedEveryMs = 100;
/** The number of seconds by which each key changes the place. */
const keySeconds: Readonly<Record<string, number>> = {
  ArrowLeft: -5,
  ArrowDown: -5,
  ArrowRight: 5,
  ArrowUp: 5,
  PageDown: -60,
  PageUp: 60,
};

/**
 * The waveform as a slider, with the played part in color. Clicks, drags and keys seek to a place.
 */
export function Wave({
  playback,
  waveformUri,
  renew,
}: {
  readonly playback: Playback;
  readonly waveformUri: string;
  /** Returns the transcript with new URLs, because signed URLs expire. */
  readonly renew: () => Promise<TranscriptJson>;
}) {
  const t = useText();
  const { duration } = usePlaybackState(playback);
  const line = useRef<HTMLDivElement>(null);
  const width = useWidth(line);
  const path = useWavePath(waveformUri, renew, width);
  usePlayedPart(line, playback, { width, placeOf: t(transcriptText.placeOf) });
  const seekTo = ({ clientX, currentTarget }: PointerEvent<HTMLDivElement>): void => {
    const { left, width: all } = currentTarget.getBoundingClientRect();
    playback.seek(Math.min(1, Math.max(0, (clientX - left) / all)) * duration);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const by = keySeconds[event.key];
    const to = { Home: 0, End: duration }[event.key];
    if (by === undefined && to === undefined) return;
    event.preventDefault();
    playback.seek(to ?? playback.place + (by ?? 0));
  };
  return (
    <div
      ref={line}
      className="wave"
      // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an input cannot show the waveform
      role="slider"
      tabIndex={0}
      aria-label={t(transcriptText.place)}
      aria-valuenow={Math.round(playback.place)}
      aria-valuemin={0}
      aria-valuemax={Math.round(duration)}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) seekTo(event);
      }}
    >
      {path === undefined ? (
        <div className="wave-plain" />
      ) : (
        <svg viewBox={`0 0 ${width} ${shape.height}`} preserveAspectRatio="none" aria-hidden="true">
          <path className="wave-ahead" d={path} />
          <path className="wave-played" d={path} />
        </svg>
      )}
      {path === undefined && <div className="wave-plain wave-played" />}
    </div>
  );
}

function useWidth(line: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      setWidth(Math.floor(entry?.contentRect.width ?? 0));
    });
    if (line.current) watch.observe(line.current);
    return () => watch.disconnect();
  }, [line]);
  return width;
}

/** The bars of the waveform as one path; undefined while there is no waveform. */
function useWavePath(
  waveformUri: string,
  renew: () => Promise<TranscriptJson>,
  width: number,
): string | undefined {
  const { data } = useQuery({
    // Only the path of the URL stays the same; each response has a different signature.
    queryKey: ["waveform", waveformUri.split("?", 1)[0]],
    queryFn: ({ signal }) =>
      fetchWaveform(waveformUri, async () => (await renew()).metadata?.waveformUri ?? "", signal),
    enabled: waveformUri !== "",
    staleTime: Infinity,
    structuralSharing: false,
  });
  return useMemo(() => {
    if (!data || width === 0) return undefined;
    const bars = barsOf(data, Math.max(1, Math.floor(width / shape.step)));
    return bars
      .map((bar, at) => {
        // Silence is shown as a dot. The rounded ends extend each bar by half its width at both
        // ends.
        const high = Math.max(0.1, bar * (shape.height - 4));
        return `M${at * shape.step + 1.5} ${((shape.height - high) / 2).toFixed(1)}v${high.toFixed(1)}`;
      })
      .join("");
  }, [data, width]);
}

/**
 * Shows the played part without rendering on each frame. The values for screen readers change only
 * when the user seeks, focuses the slider or stops the playback; otherwise they would be announced
 * every second.
 */
function usePlayedPart(
  line: { readonly current: HTMLElement | null },
  playback: Playback,
  {
    width,
    placeOf,
  }: { readonly width: number; readonly placeOf: (at: string, total: string) => string },
): void {
  useEffect(() => {
    const slider = line.current;
    if (!slider) return undefined;
    const describe = (): void => {
      const { duration } = playback.state;
      slider.ariaValueNow = String(Math.round(playback.place));
      slider.ariaValueText = placeOf(clockText(playback.place), clockText(duration));
    };
    let shown = -1;
    let shownAt = -playedEveryMs;
    const show = (seconds: number, isSought: boolean): void => {
      const now = performance.now();
      if (!isSought && playback.state.isPlaying && now - shownAt < playedEveryMs) return;
      shownAt = now;
      const share = seconds / Math.max(playback.state.duration, seconds, 0.001);
      // The width is in whole pixels, so that invisible changes are not painted.
      const played = Math.round(share * width);
      if (played !== shown) slider.style.setProperty("--played", `${played}px`);
      shown = played;
      if (isSought || !playback.state.isPlaying) describe();
    };
    const update = (): void => show(playback.place, true);
    update();
    const stops = [playback.onPlace(show), playback.subscribe(update)];
    slider.addEventListener("focus", describe);
    return () => {
      for (const stop of stops) stop();
      slider.removeEventListener("focus", describe);
    };
  }, [line, playback, width, placeOf]);
}
