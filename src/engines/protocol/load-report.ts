import type { EngineAbsence } from "./engine-absence.ts";
import type { RecognitionMode } from "./engine.ts";

/** An engine process's report of its work since its last report. */
export interface LoadReport {
  readonly seconds: number;
  /**
   * Each live session with the share of a core that it needs to keep up with real time. Audio that
   * arrives faster counts as if it arrived in real time. The additional work of full effort does
   * not count, because it is not begun when there is no room for it.
   */
  readonly live: readonly (readonly [session: number, demand: number])[];
  /** The mean delay between the arrival of live audio and its processing. */
  readonly liveLateMs: number;
  /** The work of each mode. That of `live` excludes the additional work of full effort. */
  readonly work: Readonly<Record<RecognitionMode, Work>>;
  /** The additional work of full effort. */
  readonly fullWork: Work;
  /**
   * Whether a session of the process has committed a final result. An earlier version does not say
   * so.
   */
  readonly hasCommitted?: boolean;
  /**
   * The sessions on whose input the process works, or which wait for their turns. All others have
   * had the results of their input. An earlier version does not say so.
   */
  readonly busy?: readonly number[];
  /** Set while the server of a hosted model cannot recognize. */
  readonly absence?: EngineAbsence;
}

/**
 * CPU time, and the seconds of audio that it was spent on; for live streams only seconds with
 * speech.
 */
export interface Work {
  readonly cpuSeconds: number;
  readonly audioSeconds: number;
}
