/** A section of a recording that is recognized on its own. */
export interface Piece {
  /** The index of the piece: 0, 1, 2, ... */
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly samples: Int16Array;
}

/**
 * The maximum length of a piece. Longer pieces would use more engine memory, and cause more work
 * when one is lost, without a benefit.
 */
export const pieceMsMax = 30_000;
/** The minimum length of a piece. Cuts are searched for between this length and the maximum. */
const pieceMsMin = 12_000;
/** The initial amount of memory for the samples of a piece, which grows with them. */
const heldMsMin = 5_000;
const frameMs = 10;
/**
 * The lengths of the pauses that are searched for, longest first. A pause of 120 ms has 110 ms in
 * whole frames.
 */
const pauseMs = [600, 300, 200, 110] as const;
/**
 * The limit up to which a longer pause is preferred although it is louder than the quietest short
 * one: this share of the way from the level of the short pause to the level of speech, as a ratio.
 * In steady noise a soft word is not far above the pauses; between voices a pause is far above the
 * quietest moment.
 */
const louderShare = 0.35;
/** The share of all frames that are quieter than the level of speech. */
const speechShare = 0.9;
/**
 * Sound below this share of the level of speech, or below the fixed level (of 32768), is always
 * silence.
 */
const silenceShare = 0.01;
const silenceLevel = 3;
/** The pole of a high-pass filter at about 150 Hz: offset, rumble and hum would mask the pauses. */
const highPassPole = 0.94;

/**
 * Cuts samples into pieces of at most pieceMsMax, in the middle of the best pause: the longest one
 * that is about as quiet as any. The same samples produce the same pieces however they are chunked.
 * Keeps no more than one piece in memory.
 */
export async function* cutPieces(
  chunks: AsyncIterable<Int16Array>,
  samplesPerSecond: number,
): AsyncGenerator<Piece, void, undefined> {
  const samplesOfMs = (ms: number): number => (ms * samplesPerSecond) / 1000;
  const levels = new FrameLevels(samplesOfMs(frameMs));
  const heldMax = samplesOfMs(pieceMsMax);
  // Most recordings of a few seconds need no more memory.
  let held = new Int16Array(samplesOfMs(heldMsMin));
  let length = 0;
  let cutBefore = 0;
  let index = 0;
  const take = (count: number): Piece => {
    const samples = held.slice(0, count);
    held.copyWithin(0, count, length);
    levels.drop(count);
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
      const part = chunk.subarray(at, at + heldMax - length);
      held = withRoom(held, length, length + part.length, heldMax);
      held.set(part, length);
      levels.push(part);
      length += part.length;
      at += part.length;
      if (length < heldMax) continue;
      const from = pieceMsMin / frameMs;
      yield take(samplesOfMs((from + pauseIn(levels.from(from))) * frameMs));
    }
  }
  if (length > 0) yield take(length);
}

/**
 * Returns the samples in an array with room for `count` samples, of which the first `filled` are
 * valid.
 */
function withRoom(
  samples: Int16Array<ArrayBuffer>,
  filled: number,
  needed: number,
  most: number,
): Int16Array<ArrayBuffer> {
  if (needed <= samples.length) return samples;
  const grown = new Int16Array(Math.min(most, Math.max(needed, 2 * samples.length)));
  grown.set(samples.subarray(0, filled));
  return grown;
}

/**
 * The level of each frame in memory: the mean magnitude of its samples, so that a single click does
 * not hide a pause.
 */
class FrameLevels {
  readonly #frameSamples: number;
  readonly #levels: number[] = [];
  #sum = 0;
  #samples = 0;
  #lastIn = 0;
  #lastOut = 0;

  constructor(frameSamples: number) {
    this.#frameSamples = frameSamples;
  }

  push(samples: Int16Array): void {
    for (const sample of samples) {
      this.#lastOut = sample - this.#lastIn + highPassPole * this.#lastOut;
      this.#lastIn = sample;
      this.#sum += Math.abs(this.#lastOut);
      if (++this.#samples < this.#frameSamples) continue;
      this.#levels.push(this.#sum / this.#samples);
      this.#sum = 0;
      this.#samples = 0;
    }
  }

  /** Drops the first samples: either a whole number of frames or all samples. */
  drop(samples: number): void {
    this.#levels.splice(0, samples / this.#frameSamples);
  }

  from(frame: number): number[] {
    return this.#levels.slice(frame);
  }
}

/** Returns the frame before which to cut. */
function pauseIn(levels: readonly number[]): number {
  const speech = levels.toSorted((a, b) => a - b)[Math.floor(levels.length * speechShare)] ?? 0;
  const silence = Math.max(silenceLevel, speech * silenceShare);
  const found = pauseMs.map((ms) => quietest(levels, ms / frameMs, silence));
  const least = found.at(-1)?.level ?? 0;
  const limit = Math.max(silence, least * Math.max(1, speech / least) ** louderShare);
  return found.find(({ level }) => level <= limit)?.middle ?? levels.length;
}

/**
 * Returns the window with the quietest loudest frame. If several are equal, returns the latest,
 * since longer pieces are fewer.
 */
function quietest(
  levels: readonly number[],
  length: number,
  silence: number,
): { level: number; middle: number } {
  let best = { level: Number.POSITIVE_INFINITY, middle: levels.length };
  for (let at = 0; at + length <= levels.length; at++) {
    let level = silence;
    for (let i = at; i < at + length && level <= best.level; i++) {
      level = Math.max(level, levels[i] ?? 0);
    }
    if (level <= best.level) best = { level, middle: at + Math.floor(length / 2) };
  }
  return best;
}
