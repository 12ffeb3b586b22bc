import { useLanguage, useText } from "../../text/language.tsx";
import { spanText } from "../../text/numbers.ts";
import { reviewText } from "../../text/transcript-review.ts";
import { coveredSeconds } from "../edit/model/time-ranges.ts";
import { usePlaybackState, type Playback } from "../playback.ts";
import type { MarkedStretch } from "../review-query.ts";
import { useStretches } from "../use-review.ts";

/** The width of the lane in its own units. */
const width = 10_000;

/**
 * What has been checked and listened to, as two lines along the waveform: a thick one and a thin
 * one below it.
 */
export function ReviewLane({
  name,
  playback,
}: {
  readonly name: string;
  readonly playback: Playback;
}) {
  const t = useText();
  const { language } = useLanguage();
  const { checked, listened } = useStretches(name);
  const { duration } = usePlaybackState(playback);
  if (duration === 0 || (checked.length === 0 && listened.length === 0)) return null;
  const secondsOf = (stretches: readonly MarkedStretch[]) =>
    spanText(language, coveredSeconds(stretches, { start: 0, end: duration }));
  return (
    <>
      <svg
        className="review-lane"
        viewBox={`0 0 ${width} 8`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <path className="review-checked" d={lineOf(checked, duration, 2)} />
        <path className="review-listened" d={lineOf(listened, duration, 7)} />
      </svg>
      <p className="unseen">{t(reviewText.along)(secondsOf(checked), secondsOf(listened))}</p>
    </>
  );
}

/** Returns the stretches as a path at a height. */
function lineOf(stretches: readonly MarkedStretch[], duration: number, y: number): string {
  const x = (seconds: number) => Math.round((Math.min(seconds, duration) / duration) * width);
  return stretches.map(({ start, end }) => `M${x(start)} ${y}H${x(end)}`).join("");
}
