import type { RecognitionMode } from "../protocol/engine.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/** What every decoder of a model is made of. */
export interface DecoderParts {
  readonly table: TokenTable;
  readonly scorer: WordScorer;
  readonly mode: RecognitionMode;
  readonly alternativesMax: number;
  readonly beamWidth: number;
}

/**
 * Frames of silence heard before each utterance. Measured where utterances begin with their first
 * sample of speech: three of 23 wrong first words are right with it, and more of it is no better.
 */
export const leadFrames = 16;
