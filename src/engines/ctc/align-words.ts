import { alignSpoken } from "../alignment/align-spoken.ts";
import type { Emissions, LatticeModel } from "../alignment/word-lattice.ts";
import type { AlignmentSlices } from "../protocol/engine.ts";
import { leadFrames } from "./decoder-parts.ts";
import { featureMs } from "./filter-banks.ts";
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
  /** How long after the beginning of a letter the model outputs it. */
  readonly delayMs: number;
  /** Computes the outputs of the model for a window, after leadFrames of silence. */
  readonly emissions: (window: Int16Array) => Generator<void | Promise<void>, Emissions, void>;
}

/** Returns a function that aligns words with a CTC model. */
export function wordAligner(parts: AlignParts) {
  const { table, frameMs, delayMs } = parts;
  const speller = new Speller(table);
  const space = table.tokens.findIndex((token) => token?.startsWord && token.text.trim() === "");
  const model: LatticeModel = {
    ...costs,
    quiet: space < 0 ? [table.blank] : [table.blank, space],
    blank: table.blank,
    framesPerSecond: 1000 / frameMs,
  };
  const clock = {
    timeOf: (frame: number) => frame * frameMs - leadFrames * featureMs - delayMs,
    tailFrames,
    soundMsMin: 0,
  };
  return function* align(window: Int16Array, words: readonly string[]): AlignmentSlices {
    const spoken = words.map((word) => speller.spell(word));
    const weights = spoken.map(({ length }) => length);
    const emissions = yield* parts.emissions(window);
    return yield* alignSpoken(window, { spoken, weights }, { emissions, model, clock });
  };
}
