import type { SpeakerTurn } from "../protocol/speakers.ts";

/**
 * A voice is known after so much of it, its longest stretches first, in parts of at most so much.
 */
const altogetherMsMax = 30_000;
const partMsMax = 10_000;
/**
 * Less than this does not tell whose it is, and less than this is only looked at where there is
 * nothing longer.
 */
const partMsMin = 250;
const partMsWanted = 1000;

type Stretch = readonly [startMs: number, endMs: number];

/** Where to listen for what a speaker's voice is like: where nobody else speaks, longest first. */
export function voiceSamples(turns: readonly SpeakerTurn[], speaker: number): readonly Stretch[] {
  const others = turns.filter((turn) => turn.speaker !== speaker);
  const alone = turns
    .filter((turn) => turn.speaker === speaker)
    .flatMap((turn) => without([turn.startMs, turn.endMs], others))
    .flatMap(inParts)
    .filter((stretch) => lengthMs(stretch) >= partMsMin)
    .toSorted((one, other) => lengthMs(other) - lengthMs(one));
  const long = alone.filter((stretch) => lengthMs(stretch) >= partMsWanted);
  let leftMs = altogetherMsMax;
  return (long.length > 0 ? long : alone.slice(0, 1)).flatMap(([startMs, endMs]): Stretch[] => {
    const takenMs = Math.min(endMs - startMs, leftMs);
    leftMs -= takenMs;
    return takenMs >= partMsMin ? [[startMs, startMs + takenMs]] : [];
  });
}

function without(stretch: Stretch, others: readonly SpeakerTurn[]): readonly Stretch[] {
  let left: readonly Stretch[] = [stretch];
  for (const { startMs, endMs } of others) {
    left = left.flatMap(([from, to]): Stretch[] => {
      const parts: Stretch[] = [
        [from, Math.min(to, startMs)],
        [Math.max(from, endMs), to],
      ];
      return startMs < to && endMs > from ? parts.filter(([a, b]) => b > a) : [[from, to]];
    });
  }
  return left;
}

function inParts([startMs, endMs]: Stretch): readonly Stretch[] {
  const count = Math.ceil((endMs - startMs) / partMsMax);
  const partMs = (endMs - startMs) / count;
  return Array.from({ length: count }, (_, at) => [
    Math.round(startMs + at * partMs),
    Math.round(startMs + (at + 1) * partMs),
  ]);
}

function lengthMs([startMs, endMs]: Stretch): number {
  return endMs - startMs;
}
