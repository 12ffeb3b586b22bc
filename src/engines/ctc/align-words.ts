import { alignSpoken } from "../alignment/align-spoken.ts";
import type { Emissions, LatticeModel } from "../alignment/word-lattice.ts";
import { type AlignmentSlices, engineSampleRate } from "../protocol/engine.ts";
import { leadFrames } from "./decoder-parts.ts";
import { featureMs } from "./filter-banks.ts";
import { keptEmissions } from "./kept-emissions.ts";
import type { TokenTable } from "./token-table.ts";
import { Speller } from "./word-arcs.ts";

/** The costs with which the most words were found in synthetic speech (bench/RESULTS.md). */
const costs = {
  unexplainedCost: 1.5,
  anySoundCost: 0.2,
  pauseCost: 0.05,
  missingCost: 4,
  tokenCostMax: 5,
} as const;
/** The frames that a letter lasts after its last frame, since models output it where it begins. */
const tailFrames = 2;

export interface AlignParts {
  readonly table: TokenTable;
  readonly frameMs: number;
  readonly tokenCount: number;
  /** How long after the beginning of a letter the model outputs it. */
  readonly delayMs: number;
  /** Computes the outputs of the model for a window, after leadFrames of silence. */
  readonly emissions: (window: Int16Array) => Generator<void | Promise<void>, Emissions, void>;
}

/** Aligns words with a CTC model, in a window of samples or of kept outputs. */
export interface WordAligner {
  align(window: Int16Array, words: readonly string[]): AlignmentSlices;
  alignOutputs(
    window: { readonly bytes: Uint8Array; readonly windowMs: number },
    words: readonly string[],
  ): AlignmentSlices;
}

export function wordAligner(parts: AlignParts): WordAligner {
  const { table, frameMs, tokenCount, delayMs } = parts;
  const { blank } = table;
  const speller = new Speller(table);
  const space = table.tokens.findIndex((token) => token?.startsWord && token.text.trim() === "");
  const model: LatticeModel = {
    ...costs,
    quiet: space < 0 ? [blank] : [blank, space],
    blank,
    framesPerSecond: 1000 / frameMs,
  };
  const spell = (words: readonly string[]) => {
    const spoken = words.map((word) => speller.spell(word));
    return { spoken, weights: spoken.map(({ length }) => length) };
  };
  const usual = {
    timeOf: (frame: number) => frame * frameMs - leadFrames * featureMs - delayMs,
    tailFrames,
    soundMsMin: 0,
  };
  return {
    *align(window, words) {
      const emissions = yield* parts.emissions(window);
      const windowMs = (1000 * window.length) / engineSampleRate;
      return yield* alignSpoken(windowMs, spell(words), { emissions, model, clock: usual });
    },
    *alignOutputs(window, words) {
      const layout = { tokenCount, blank, frameMs, delayMs };
      const { timesMs, ...emissions } = yield* keptEmissions(window, layout);
      const last = timesMs.length - 1;
      const timeOf = (frame: number) =>
        (timesMs[Math.min(frame, last)] ?? 0) + Math.max(0, frame - last) * frameMs;
      const clock = { ...usual, timeOf };
      return yield* alignSpoken(window.windowMs, spell(words), { emissions, model, clock });
    },
  };
}
