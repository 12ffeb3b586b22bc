import type { Frame } from "../protocol/engine-frames.ts";
import type { SessionEnd } from "./child-session.ts";
import type { SessionUse } from "./session-client.ts";

/** A session in a process: a recognition of this service, or of a client of this engine node. */
export interface OpenedSession {
  readonly id: number;
  /** What admission needs to know about the session. */
  readonly client: SessionUse;
  readonly isOver: boolean;
  /** Whether the process still has work for this session. */
  readonly hasWork: boolean;
  /** Processes a frame that the process has sent for this session. */
  take(frame: Frame): void;
  end(end: SessionEnd): void;
}
