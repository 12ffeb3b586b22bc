import { useEffect, useRef } from "react";
import { useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import "./level-meter.css";

const barCount = 44;
/** Told to screen readers, and shown to those who want no motion, no oftener. */
const calmMs = 1000;
/** Of a bar that shows silence. */
const heightMin = 0.08;

/**
 * How loud what is sent has been in the last seconds, the newest at the right; without motion how
 * loud it is, from the left.
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
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let toldAt = 0;
    return onLevel((loudness) => {
      levels.shift();
      levels.push(loudness);
      const isTold = performance.now() - toldAt > calmMs;
      if (isTold) {
        toldAt = performance.now();
        if (meter.current) meter.current.value = loudness;
      }
      if (!isCalm) show(levels);
      else if (isTold) show(levels.map((_, at) => (at < loudness * barCount ? 0.6 : 0)));
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
