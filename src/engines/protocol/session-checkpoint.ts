import type { SavedResampler } from "../../audio/resample.ts";
import type { SavedCutter } from "../../audio/utterance-cutter.ts";
import type { Recognition } from "./recognizer.ts";

/**
 * Where a session stands between two utterances, as plain data. Another process that is given it,
 * and the input from `position` on, gives the same finals as this one would have: nothing else goes
 * from one utterance to the next.
 */
export interface SessionCheckpoint {
  readonly position: InputPosition;
  readonly resampler: SavedResampler;
  readonly cutter: SavedCutter;
  /** What its decoder has learnt of the stream, and of which engine that was one. */
  readonly decoder: { readonly engine: string; readonly state: readonly number[] };
  /** Resampled, and not yet cut into utterances. */
  readonly uncut: string;
  /** The end of the input has gone through the resampler. */
  readonly isFlushed: boolean;
}

/** How much of a session's input is done with, from the start of the stream. */
export interface InputPosition {
  /** At the session's own rate. */
  readonly samples: number;
  /** Marks that end an utterance. */
  readonly marks: number;
}

/**
 * An utterance that is done with, or a while of silence. One message for both parts: who has the
 * final also has where to go on after it, or has neither.
 */
export interface Settled {
  /** Where something was heard. */
  readonly final?: Recognition;
  readonly checkpoint: SessionCheckpoint;
}
