import type { SavedResampler } from "../../audio/resample.ts";
import type { SavedCutter } from "../../audio/utterance-cutter.ts";
import type { Recognition } from "./recognizer.ts";

/**
 * The state of a session between two utterances, as plain data. Another process that gets it, and
 * the input from `position` on, returns the same finals as this one would: no other state outlives
 * an utterance.
 */
export interface SessionCheckpoint {
  readonly position: InputPosition;
  readonly resampler: SavedResampler;
  readonly cutter: SavedCutter;
  /** What its decoder has learned from the stream, and the name of that decoder's engine. */
  readonly decoder: { readonly engine: string; readonly state: readonly number[] };
  /** Samples that are resampled and not yet cut into utterances. */
  readonly uncut: string;
  /** Whether the end of the input has gone through the resampler. */
  readonly isFlushed: boolean;
}

/** How much of a session's input is processed, from the start of the stream. */
export interface InputPosition {
  /** Samples at the session's own rate. */
  readonly samples: number;
  readonly flushMarkers: number;
}

/**
 * The end of an utterance, or of some seconds of silence. The final and the checkpoint after it
 * travel in one message: the service has both or neither, so that no final comes twice.
 */
export interface Commit {
  /** Absent if no words were recognized. */
  readonly final?: Recognition;
  readonly checkpoint: SessionCheckpoint;
}
