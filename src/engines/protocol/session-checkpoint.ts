import type { SavedResampler } from "../../audio/resample.ts";
import type { SavedCutter } from "../../audio/utterance-cutter.ts";
import type { Effort } from "./engine.ts";
import type { Recognition } from "./recognizer.ts";

/**
 * The state of a session between two utterances, as plain data. Another process that receives this
 * state, and the input from `position` on, returns the same final results as this one would. No
 * other state outlives an utterance.
 */
export interface SessionCheckpoint {
  readonly position: InputPosition;
  readonly resampler: SavedResampler;
  readonly cutter: SavedCutter;
  /**
   * The state that the decoder has learned from the stream, and the name of the decoder's engine.
   */
  readonly decoder: { readonly engine: string; readonly state: readonly number[] };
  /** The effort of the next utterance. */
  readonly effort: Effort;
  /** The samples that are resampled but not yet cut into utterances. */
  readonly uncut: string;
  /** Whether the end of the input has passed through the resampler. */
  readonly isFlushed: boolean;
}

/** How much of a session's input has been processed, counted from the start of the stream. */
export interface InputPosition {
  /** The number of samples at the session's own rate. */
  readonly samples: number;
  readonly flushMarkers: number;
}

/**
 * A commit at the end of an utterance, or after some seconds of silence. The final result and the
 * checkpoint after it are sent in one message: the service receives both or neither, so no final
 * result is sent twice.
 */
export interface Commit {
  /** Absent if no words were recognized. */
  readonly final?: Recognition;
  readonly checkpoint: SessionCheckpoint;
}
