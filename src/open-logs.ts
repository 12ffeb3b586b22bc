import process from "node:process";
import type { Config } from "./config.ts";
import type { AccessLog } from "./server/access-log.ts";
import { createLog, type Log } from "./std/log.ts";
import { ambientFields } from "./tracing/tracing.ts";

/**
 * Creates the log and, if it is wanted, the log of calls, whose lines no level leaves out. `of`
 * names the process in each line; the main process is not named.
 */
export function openLogs(
  { logLevel, log }: Config,
  of?: string,
): { log: Log; access: AccessLog | undefined } {
  const format = log.format ?? (process.stderr.isTTY ? "pretty" : "json");
  const fields = of === undefined ? ambientFields : () => ({ process: of, ...ambientFields() });
  const options = { format, fields };
  return {
    log: createLog(logLevel, { ...options, sample: log.sample }),
    access: log.isAccessLogged
      ? { log: createLog("info", options), sample: log.accessSample }
      : undefined,
  };
}
