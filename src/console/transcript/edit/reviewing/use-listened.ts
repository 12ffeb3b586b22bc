import { useEffect, useRef } from "react";
import type { Playback } from "../../playback.ts";
import type { ReviewChange } from "../../review-query.ts";
import { useReviewChange } from "../../use-review.ts";
import { momentAt } from "../model/moment.ts";
import { Listened } from "./listened.ts";

/** How often what is played is reported. */
const everyMs = 15_000;
/** The most stretches of a report. */
const reportMax = 1_000;

/** Reports what is played while a text is edited, every 15 seconds and on each pause. */
export function useListened(name: string, playback: Playback | undefined): void {
  const { mutateAsync } = useReviewChange(name);
  const report = useRef(mutateAsync);
  useEffect(() => {
    report.current = mutateAsync;
  });
  useEffect(
    () => (playback ? listen(playback, (change) => report.current(change)) : undefined),
    [playback],
  );
}

function listen(
  playback: Playback,
  report: (change: ReviewChange) => Promise<unknown>,
): () => void {
  const listened = new Listened();
  const send = (): void => {
    const stretches = listened.take();
    if (stretches.length === 0) return;
    const reported = stretches.slice(0, reportMax);
    listened.restore(stretches.slice(reportMax));
    const add = reported.map(({ start, end }) => ({
      kind: "LISTENED" as const,
      startTime: momentAt(start).text,
      endTime: momentAt(end).text,
    }));
    // The next report has the stretches of this one if it fails.
    report({ add }).catch(() => listened.restore(reported));
  };
  const timer = setInterval(send, everyMs);
  const stops = [
    playback.onPlace((seconds, isSought) => listened.note(seconds, isSought)),
    playback.subscribe(() => {
      if (!playback.state.isPlaying) send();
    }),
  ];
  return () => {
    clearInterval(timer);
    for (const stop of stops) stop();
    send();
  };
}
