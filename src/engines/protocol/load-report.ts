import type { RecognitionMode } from "./engine.ts";

/** What an engine process tells of its work since it told it last. */
export interface LoadReport {
  readonly seconds: number;
  /**
   * Each live session with the share of a core that it needs to be heard as fast as it speaks; one
   * whose audio comes faster than that counts as if it came at its speed.
   */
  readonly live: readonly (readonly [session: number, demand: number])[];
  /** How late live audio is heard, in the mean. */
  readonly liveLateMs: number;
  readonly work: Readonly<Record<RecognitionMode, Work>>;
}

/**
 * CPU time, and the seconds of audio that it was spent on: of live streams those with speech in
 * them.
 */
export interface Work {
  readonly cpuSeconds: number;
  readonly audioSeconds: number;
}
