import { pino, type Logger } from "pino";
import { prettyLine } from "./pretty-line.ts";

/**
 * Logs events with fields, one JSON object per line on standard error. Never log speech, text,
 * tokens or signed URLs.
 */
export type Log = Logger;

export const logLevels = ["fatal", "error", "warn", "info", "debug", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export const logFormats = ["json", "pretty"] as const;
export type LogFormat = (typeof logFormats)[number];

export interface LogOptions {
  /** json (the default): an object per line, for programs. pretty: for people. */
  readonly format?: LogFormat;
  /** Returns the fields of the call or job for which a line is written. Default: none. */
  readonly fields?: () => Readonly<Record<string, string>>;
  /**
   * The share of calls and jobs whose lines below warn are written, 0 to 1. All lines of a call or
   * job are written, or none. Default: 1.
   */
  readonly sample?: number;
}

/**
 * Creates a log. In `log.info({ jobId }, "job.started")`, the event is a name, and the facts are
 * fields.
 */
export function createLog(level: LogLevel, options: LogOptions = {}): Log {
  const { format = "json", fields = nothing, sample = 1 } = options;
  const standardError = pino.destination({ fd: 2, sync: true });
  const pretty = { write: (line: string) => void standardError.write(prettyLine(line)) };
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "event",
      formatters: { level: (label) => ({ level: label }) },
      mixin: fields,
      ...(sample < 1 && {
        hooks: {
          logMethod(args, method, lineLevel) {
            const key = fields()["requestId"] ?? jobIdIn(args[0]);
            const isWritten = lineLevel >= warn || key === undefined || shareOf(key) < sample;
            if (isWritten) method.apply(this, args);
          },
        },
      }),
    },
    format === "pretty" ? pretty : standardError,
  );
}

const warn = 40;
const nothing = (): Readonly<Record<string, string>> => ({});

function jobIdIn(fields: unknown): string | undefined {
  const isJob = typeof fields === "object" && fields !== null && "jobId" in fields;
  return isJob && typeof fields.jobId === "string" ? fields.jobId : undefined;
}

/** Returns a number from 0 to 1 (exclusive) that is the same for the same text (FNV-1a). */
export function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  // The last characters of ids differ most; mixing spreads them over all bits.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/**
 * Returns the log fields for an unexpected error: its message, its stack and, if it has one, its
 * code.
 */
export function errorFields(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: String(error) };
  return { error: error.message, stack: error.stack, ...("code" in error && { code: error.code }) };
}
