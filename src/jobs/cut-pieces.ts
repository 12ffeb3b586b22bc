/** A stretch of a recording, short enough to be recognised at once. */
export interface Piece {
  /** 0, 1, 2, ... */
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly samples: Int16Array;
}

/** Longest piece: past it an engine's memory and a lost piece's cost grow for nothing. */
export const pieceMsMax = 30_000;
/** A cut is looked for from here to the longest piece. */
const pieceMsMin = 12_000;
const frameMs = 10;
/** Pauses of these lengths are tried, longest first. */
const pauseMs = [600, 300, 120] as const;
/** A longer pause is taken although it is this much louder than the quietest one. */
const loudnessRatioMax = 2;
/** Sound below it, of 32768, is silence whatever the rest is like. */
const silenceLevel = 50;

/**
 * Cuts samples into pieces of at most pieceMsMax, in the middle of the best pause that is there: the longest one that is about
 * as quiet as any. The same samples give the same pieces however they are split. Holds no more than one piece.
 */
export async function* cutPieces(
  chunks: AsyncIterable<Int16Array>,
  samplesPerSecond: number,
): AsyncGenerator<Piece, void, undefined> {
  const samplesOfMs = (ms: number): number => (ms * samplesPerSecond) / 1000;
  const frame = samplesOfMs(frameMs);
  const held = new Int16Array(samplesOfMs(pieceMsMax));
  let length = 0;
  let cutBefore = 0;
  let index = 0;
  const take = (count: number): Piece => {
    const samples = held.slice(0, count);
    held.copyWithin(0, count, length);
    length -= count;
    const start = cutBefore;
    cutBefore += count;
    return {
      index: index++,
      startMs: Math.round((start * 1000) / samplesPerSecond),
      endMs: Math.round((cutBefore * 1000) / samplesPerSecond),
      samples,
    };
  };
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const part = chunk.subarray(at, at + held.length - length);
      held.set(part, length);
      length += part.length;
      at += part.length;
      if (length === held.length) yield take(pauseIn(held, samplesOfMs(pieceMsMin), frame));
    }
  }
  if (length > 0) yield take(length);
}

/** Where to cut, a whole number of frames from the start, not before `from`. */
function pauseIn(samples: Int16Array, from: number, frame: number): number {
  const levels: number[] = [];
  for (let at = from; at + frame <= samples.length; at += frame) {
    levels.push(loudnessOf(samples.subarray(at, at + frame)));
  }
  const found = pauseMs.map((ms) => quietest(levels, ms / frameMs));
  const limit = Math.max(silenceLevel, (found.at(-1)?.level ?? 0) * loudnessRatioMax);
  const best = found.find(({ level }) => level <= limit) ?? { middle: levels.length, level: 0 };
  return from + best.middle * frame;
}

/** Mean size of the samples: a single click does not hide a pause. */
function loudnessOf(frame: Int16Array): number {
  let sum = 0;
  for (const sample of frame) sum += Math.abs(sample);
  return sum / frame.length;
}

/** The window whose loudest frame is the least loud; the latest of equals, because longer pieces are fewer. */
function quietest(levels: readonly number[], length: number): { level: number; middle: number } {
  let best = { level: Number.POSITIVE_INFINITY, middle: levels.length };
  for (let at = 0; at + length <= levels.length; at++) {
    let level = 0;
    for (let i = at; i < at + length && level <= best.level; i++) {
      level = Math.max(level, levels[i] ?? 0);
    }
    // Below the level of silence there is nothing to choose between.
    level = Math.max(level, silenceLevel);
    if (level <= best.level) best = { level, middle: at + Math.floor(length / 2) };
  }
  return best;
}
