import { useEffect, useRef } from "react";
import { useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import "./level-meter.css";

const barCount = 44;
/** How often the level is updated for screen readers, and for users who prefer reduced motion. */
const slowMs = 1000;
/** The share of the height that a loudness takes: a loud voice leaves some of it. */
const heightOf = (loudness: number): number => loudness ** 2;
/** The height of a bar that shows silence. */
const heightMin = 0.08;

/**
 * The loudness of the last few seconds, with the newest on the right. With reduced motion, a bar
 * that starts at the left shows the current loudness.
 */
export function LevelMeter({
  onLevel,
  isOn,
}: {
  readonly onLevel: (listener: (loudness: number) => void) => () => void;
  readonly isOn: boolean;
}) {
  const t = useText();
  const bars = useRef<HTMLDivElement>(null);
  const meter = useRef<HTMLMeterElement>(null);
  useEffect(() => {
    const levels = Array.from({ length: barCount }, () => 0);
    const show = (heights: readonly number[]): void => {
      for (const [at, bar] of [...(bars.current?.children ?? [])].entries()) {
        if (!(bar instanceof HTMLElement)) continue;
        bar.style.transform = `scaleY(${heightMin + (1 - heightMin) * (heights[at] ?? 0)})`;
      }
    };
    show(levels);
    if (!isOn) return undefined;
    const isReduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let updatedAt = 0;
    return onLevel((loudness) => {
      levels.shift();
      levels.push(heightOf(loudness));
      const isDue = performance.now() - updatedAt > slowMs;
      if (isDue) {
        updatedAt = performance.now();
        if (meter.current) meter.current.value = loudness;
      }
      if (!isReduced) show(levels);
      else if (isDue) show(levels.map((_, at) => (at < heightOf(loudness) * barCount ? 0.6 : 0)));
    });
  }, [onLevel, isOn]);
  return (
    <>
      <meter ref={meter} className="unseen" aria-label={t(liveText.level)} value={0} />
      <div ref={bars} className={isOn ? "level-meter on" : "level-meter"} aria-hidden="true">
        {Array.from({ length: barCount }, (_, at) => (
          <i key={at} style={{ opacity: 0.25 + (0.75 * at) / barCount }} />
        ))}
      </div>
    </>
  );
}
