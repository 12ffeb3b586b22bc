import type { RecognitionMode } from "../protocol/engine.ts";
import type { TokenTable } from "./token-table.ts";
import type { WordScorer } from "./word-scorer.ts";

/** The parts that every decoder of a model needs. */
export interface DecoderParts {
  readonly table: TokenTable;
  readonly scorer: WordScorer;
  readonly mode: RecognitionMode;
  readonly alternativesMax: number;
  readonly beamWidth: number;
  /** Whether the outputs of the model are compacted, for takeOutputs(). */
  readonly keepsOutputs?: boolean | undefined;
}

/**
 * The number of frames of silence that are put before each utterance. In a measurement with
 * utterances that begin with their first sample of speech, this corrected 3 of 23 wrong first
 * words, and more silence did not help.
 */
export const leadFrames = 16;
