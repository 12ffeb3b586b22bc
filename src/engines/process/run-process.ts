import {
  type Frame,
  FrameReader,
  FrameWriter,
  type ReadyProcess,
} from "../protocol/engine-frames.ts";
import type { LoadReport } from "../protocol/load-report.ts";

/** Handles the frames that the service sends to a process of the pool. */
export interface ProcessHost {
  readonly ready: ReadyProcess;
  receive(frame: Frame): void;
  /**
   * Returns the load since the last report, or undefined if work on other threads hangs. Without
   * reports, the service ends the process (watchdog.ts).
   */
  report(): LoadReport | undefined;
}

/**
 * The program of a process of the pool: opens a host for the source on the command line (JSON),
 * passes it the frames from standard input, and ends when that input ends. A source that cannot be
 * loaded is reported to the service.
 */
export async function runProcess(
  open: (source: string, writer: FrameWriter) => Promise<ProcessHost>,
): Promise<void> {
  const [, , source = "", reportMs = ""] = process.argv;
  const writer = new FrameWriter(process.stdout);
  // Ctrl-C reaches the whole process group, but the service ends its engines only after it has
  // drained.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  process.stdout.on("error", () => process.exit(1));
  // The service has ended, so nothing reads the results.
  process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0));
  const host = await open(source, writer).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    writer.writeJson("failed", 0, { message });
    writer.flush();
    process.stdout.end(() => process.exit(1));
  });
  if (!host) return;
  const reader = new FrameReader();
  process.stdin.on("data", (chunk: Buffer) => {
    for (const frame of reader.push(chunk)) host.receive(frame);
  });
  writer.writeJson("ready", 0, host.ready);
  setInterval(() => {
    const report = host.report();
    if (report) writer.writeJson("load", 0, report);
  }, Number(reportMs));
}
