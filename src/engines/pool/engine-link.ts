import type { Frame, FrameSink } from "../protocol/engine-frames.ts";

/** How a link ended. */
export interface LinkEnd {
  /** The signal or exit code of the process, or why the connection ended. */
  readonly how: string;
  /**
   * Whether the process itself ended, so that one of its sessions may be the cause. If only the
   * connection to it is lost, its sessions continue elsewhere without suspicion.
   */
  readonly isOfProcess: boolean;
  /** The session whose frame was not to be trusted, if that is why the connection ended. */
  readonly suspect?: number;
}

/** The connection to one engine process: frames in, frames out, and its end. */
export interface EngineLink {
  /** The id of the process if it is a child of this one; 0 for a process of an engine node. */
  readonly pid: number;
  /** Takes the frames for the process. */
  readonly sink: FrameSink;
  /** Called with the frames of each read. It throws if they cannot be trusted. */
  onFrames: (frames: Iterable<Frame>) => void;
  /** Resolves when the process has ended, or the connection to it. */
  readonly ended: Promise<LinkEnd>;
  /** Whether something was received that is not a frame of this process. */
  readonly isGarbled: boolean;
  /** Asks the process to end; its sessions are lost. */
  end(): void;
  /** Ends the process, or the connection to it, at once. */
  kill(): void;
}
