import { FrameWriter, jsonPayload, type ListenAt } from "../protocol/engine-frames.ts";
import { FrameReader } from "../protocol/frame-reader.ts";
import { FrontConnections } from "./front-connections.ts";
import type { ProcessHost } from "./process-host.ts";

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
    for (const frame of reader.push(chunk)) {
      if (frame.kind === "listen") listen(jsonPayload("listen", frame));
      else host.receive(frame);
    }
  });
  const fronts = new FrontConnections(host);
  const listen = (at: ListenAt) =>
    fronts.listen(at, (isListening) => writer.writeJson("listening", 0, isListening));
  writer.writeJson("ready", 0, host.ready);
  setInterval(() => {
    const report = host.report();
    if (!report) return;
    writer.writeJson("load", 0, report);
    fronts.report(report);
  }, Number(reportMs));
}
