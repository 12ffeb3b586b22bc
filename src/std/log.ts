import { pino, type Logger } from "pino";

/**
 * Logs events with fields, one JSON object per line on standard error. Never log speech, text,
 * tokens or signed URLs.
 */
export type Log = Logger;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

/**
 * Creates a log. In `log.info({ jobId }, "job.started")`, the event is a name, and the facts are
 * fields.
 */
export function createLog(level: LogLevel): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, messageKey: "event" },
    pino.destination({ fd: 2, sync: true }),
  );
}

/**
 * Returns the log fields for an unexpected error: its message, its stack and, if it has one, its
 * code.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  return { error: error.message, stack: error.stack, ...("code" in error && { code: error.code }) };
}
