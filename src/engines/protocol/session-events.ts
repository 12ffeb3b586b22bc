import type { UtteranceOutputs } from "./kept-outputs.ts";
import type { Recognition } from "./recognizer.ts";
import type { Commit } from "./session-checkpoint.ts";

/**
 * The reports of a recognition, on either side of the pipe. In the engine process EngineSession
 * calls HostedSession, which writes each call as a frame. In the service ChildSession reads the
 * frame and calls ReplayedRecognition.
 */
export interface SessionEvents {
  interim(recognition: Recognition): void;
  committed(commit: Commit): void;
  /**
   * Only for sessions with keepsOutputs: reports the outputs of the utterance that the next commit
   * covers.
   */
  outputs?(utterance: UtteranceOutputs): void;
  /** Only for sessions with speechEvents: reports that an utterance begins or ends. */
  speechEvent?(event: Recognition): void;
  /**
   * For jobs only: reports how many samples of the stream have been recognized, counted from its
   * start.
   */
  progress(samples: number): void;
}
