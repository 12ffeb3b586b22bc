import type { Emissions } from "../alignment/word-lattice.ts";
import { utterancesOf } from "../protocol/kept-outputs.ts";
import { leadFrames } from "./decoder-parts.ts";
import { featureMs } from "./filter-banks.ts";
import { costStep, firstRun, narrowTokensMax } from "./outputs-writer.ts";

/** The log probability of a token that was not kept. */
const unlikely = -20;

export interface KeptLayout {
  readonly tokenCount: number;
  readonly blank: number;
  readonly frameMs: number;
  /** How long after the beginning of a letter the model outputs it. */
  readonly delayMs: number;
}

/** The kept outputs of a window. Frames follow one another at about the interval of the model. */
export interface KeptEmissions extends Emissions {
  /** The time of each frame in the window, without the delay of the model. */
  readonly timesMs: Float64Array;
}

/** A frame: its time, and where its tokens are; blank if it has none. */
interface KeptFrame {
  readonly ms: number;
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly count: number;
}

const nothing = new Uint8Array(0);

/**
 * Reads the kept outputs of a window, in slices of an utterance. Between utterances is blank. Where
 * one follows another at once, the silence that the decoder put after the first and before the
 * second is left out. Throws RangeError if the bytes are damaged.
 */
export function* keptEmissions(
  { bytes, windowMs }: { readonly bytes: Uint8Array; readonly windowMs: number },
  layout: KeptLayout,
): Generator<void, KeptEmissions, void> {
  const { frameMs, tokenCount, blank } = layout;
  const frames: KeptFrame[] = [];
  const fillTo = (endMs: number): void => {
    for (let ms = (frames.at(-1)?.ms ?? -frameMs) + frameMs; ms < endMs; ms += frameMs) {
      frames.push({ ms, bytes: nothing, at: 0, count: 0 });
    }
  };
  const utterances = utterancesOf(bytes).toSorted((a, b) => a.startMs - b.startMs);
  for (const [index, { startMs, bytes: each }] of utterances.entries()) {
    const untilMs = Math.min(windowMs, utterances[index + 1]?.startMs ?? Infinity);
    let ms = startMs - leadFrames * featureMs - layout.delayMs;
    const fromMs = Math.max(0, startMs - frameMs, (frames.at(-1)?.ms ?? -frameMs) + frameMs / 2);
    for (const frame of framesOf(each, tokenCount)) {
      const isOwn = ms >= fromMs && ms < untilMs - frameMs / 2;
      if (isOwn) {
        fillTo(ms - frameMs / 2);
        frames.push({ ...frame, ms });
      }
      ms += frameMs;
    }
    yield;
  }
  fillTo(windowMs);
  const logs = new Float32Array(frames.length * tokenCount).fill(unlikely);
  for (const [index, frame] of frames.entries()) {
    if (frame.count === 0) logs[index * tokenCount + blank] = 0;
    else readTokens(frame, logs.subarray(index * tokenCount, (index + 1) * tokenCount));
  }
  yield;
  const timesMs = Float64Array.from(frames, ({ ms }) => ms);
  return { logs, frames: frames.length, tokenCount, timesMs };
}

/** Yields the frames of an utterance. */
function* framesOf(bytes: Uint8Array, tokenCount: number): Generator<Omit<KeptFrame, "ms">> {
  const entryBytes = tokenCount > narrowTokensMax ? 3 : 2;
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at++] ?? 0;
    if (first >= firstRun) {
      for (let left = first - firstRun; left >= 0; left--) yield { bytes, at, count: 0 };
      continue;
    }
    if (first === 0 || at + first * entryBytes > bytes.length) {
      throw new RangeError("a frame of kept outputs is damaged");
    }
    yield { bytes, at, count: first };
    at += first * entryBytes;
  }
}

/** Writes the log probabilities of a frame. */
function readTokens({ bytes, at, count }: KeptFrame, logs: Float32Array): void {
  const isWide = logs.length > narrowTokensMax;
  for (let index = 0, from = at; index < count; index++) {
    const high = isWide ? (bytes[from++] ?? 0) << 8 : 0;
    const token = high + (bytes[from++] ?? 0);
    if (token >= logs.length) throw new RangeError("kept outputs have an unknown token");
    logs[token] = -(bytes[from++] ?? 0) * costStep;
  }
}
