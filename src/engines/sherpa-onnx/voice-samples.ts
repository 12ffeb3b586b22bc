import type { SpeakerTurn } from "../protocol/speakers.ts";

/**
 * The maximum total audio used for a voice: its longest spans first, in parts of at most partMsMax.
 */
const altogetherMsMax = 30_000;
const partMsMax = 10_000;
/**
 * The minimum length of a part; shorter parts do not suffice to identify a voice. Parts shorter
 * than partMsWanted are used only if no part is longer.
 */
const partMsMin = 250;
const partMsWanted = 1000;

type Span = readonly [startMs: number, endMs: number];

/** Returns the spans in which only this speaker speaks, the longest first. */
export function voiceSamples(turns: readonly SpeakerTurn[], speaker: number): readonly Span[] {
  const others = turns.filter((turn) => turn.speaker !== speaker);
  const alone = turns
    .filter((turn) => turn.speaker === speaker)
    .flatMap((turn) => without([turn.startMs, turn.endMs], others))
    .flatMap(inParts)
    .filter((span) => lengthMs(span) >= partMsMin)
    .toSorted((one, other) => lengthMs(other) - lengthMs(one));
  const long = alone.filter((span) => lengthMs(span) >= partMsWanted);
  let leftMs = altogetherMsMax;
  return (long.length > 0 ? long : alone.slice(0, 1)).flatMap(([startMs, endMs]): Span[] => {
    const takenMs = Math.min(endMs - startMs, leftMs);
    leftMs -= takenMs;
    return takenMs >= partMsMin ? [[startMs, startMs + takenMs]] : [];
  });
}

function without(span: Span, others: readonly SpeakerTurn[]): readonly Span[] {
  let left: readonly Span[] = [span];
  for (const { startMs, endMs } of others) {
    left = left.flatMap(([from, to]): Span[] => {
      const parts: Span[] = [
        [from, Math.min(to, startMs)],
        [Math.max(from, endMs), to],
      ];
      return startMs < to && endMs > from ? parts.filter(([a, b]) => b > a) : [[from, to]];
    });
  }
  return left;
}

function inParts([startMs, endMs]: Span): readonly Span[] {
  const count = Math.ceil((endMs - startMs) / partMsMax);
  const partMs = (endMs - startMs) / count;
  return Array.from({ length: count }, (_, at) => [
    Math.round(startMs + at * partMs),
    Math.round(startMs + (at + 1) * partMs),
  ]);
}

function lengthMs([startMs, endMs]: Span): number {
  return endMs - startMs;
}
