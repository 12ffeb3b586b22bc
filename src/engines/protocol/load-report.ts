import type { RecognitionMode } from "./engine.ts";

/** What an engine process reports of its work since its last report. */
export interface LoadReport {
  readonly seconds: number;
  /**
   * Each live session with the share of a core that it needs to be processed at the speed of
   * speech; audio that comes faster counts as if it came at that speed.
   */
  readonly live: readonly (readonly [session: number, demand: number])[];
  /** Mean delay between the arrival of live audio and its processing. */
  readonly liveLateMs: number;
  readonly work: Readonly<Record<RecognitionMode, Work>>;
}

/**
 * CPU time, and the seconds of audio that it was spent on; for live streams, seconds with speech.
 */
export interface Work {
  readonly cpuSeconds: number;
  readonly audioSeconds: number;
}
