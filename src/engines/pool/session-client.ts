import type { RecognitionMode } from "../protocol/engine.ts";
import type { WindowSpeakers } from "../protocol/recognizer.ts";
import type { SessionEvents } from "../protocol/session-events.ts";
import type { LiveDemand } from "./live-demand.ts";

/**
 * The service's end of a session: receives what the engine process reports, and has the properties
 * that stay the same when the session moves to another process.
 */
export interface SessionClient extends SessionEvents {
  readonly mode: RecognitionMode;
  readonly sampleRateHertz: number;
  /** The demand of the session, which counts only if the session is live. */
  readonly demand: LiveDemand;
  /** Seconds of audio that it has sent and that no commit covers. */
  readonly uncommittedSeconds: number;
  /** Only for sessions that diarize. */
  speakers?(speakers: WindowSpeakers): void;
}
