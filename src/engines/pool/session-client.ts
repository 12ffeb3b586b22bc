import type { RecognitionMode } from "../protocol/engine.ts";
import type { WordTime } from "../protocol/alignment.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";
import type { SessionEvents } from "../protocol/session-events.ts";
import type { LiveDemand } from "./live-demand.ts";

/** What a session takes of its process, which is what admission goes by. */
export interface SessionUse {
  readonly mode: RecognitionMode;
  /** The demand of the session, which counts only if the session is live. */
  readonly demand: LiveDemand;
  /**
   * The share of a core that the session needs for full effort, in addition to `demand`; 0 while
   * its effort is quick.
   */
  readonly fullDemand: number;
  /** The seconds of audio that the session has sent and that no commit covers. */
  readonly uncommittedSeconds: number;
}

/**
 * The service's end of a session. It receives the reports of the engine process, and has the
 * properties that stay the same when the session moves to another process.
 */
export interface SessionClient extends SessionEvents, SessionUse {
  readonly sampleRateHertz: number;
  /** Only for sessions that diarize. */
  speakers?(speakers: WindowSpeakers): void;
  /** Only for sessions that align words. */
  aligned?(words: readonly WordTime[]): void;
}
