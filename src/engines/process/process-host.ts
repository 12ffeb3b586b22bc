import type { Frame, FrameWriter, ReadyProcess } from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";

/** Handles the frames that the service sends to a process of the pool. */
export interface ProcessHost {
  readonly ready: ReadyProcess;
  /** `writer` takes the results of the session; by default, the service itself. */
  receive(frame: Frame, writer?: FrameWriter): void;
  /** Ends all sessions of a front process. */
  leave?(writer: FrameWriter): void;
  /**
   * Returns the load since the last report, or undefined if work on other threads hangs. Without
   * reports, the service ends the process (watchdog.ts).
   */
  report(): LoadReport | undefined;
}
