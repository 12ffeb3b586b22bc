import type { RecognitionMode } from "../protocol/engine.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/** The parts of every decoder of a model. */
export interface DecoderParts {
  readonly table: TokenTable;
  readonly scorer: WordScorer;
  readonly mode: RecognitionMode;
  readonly alternativesMax: number;
  readonly beamWidth: number;
}

/**
 * Frames of silence that are put before each utterance. Measured with utterances that begin with
 * their first sample of speech: 3 of 23 wrong first words become right, and more silence does
 * not help.
 */
export const leadFrames = 16;
