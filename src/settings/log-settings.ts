import { logFormats, type LogFormat } from "../std/log.ts";
import { ConfigError, ifSet, oneOf, type ReadSetting, type Setting } from "../std/setting.ts";

/** What the log contains, in addition to its level. */
export interface LogConfig {
  /** Undefined: pretty on a terminal, otherwise json. */
  readonly format: LogFormat | undefined;
  /** The share of calls and jobs whose lines below warn are written. */
  readonly sample: number;
  /** Whether each call has a line. */
  readonly isAccessLogged: boolean;
  /** The share of calls that have a line; calls that failed in the service always have one. */
  readonly accessSample: number;
}

export const logSettings = {
  format: {
    name: "HLUST_LOG_FORMAT",
    meaning: "Format of the log: json (an object per line) or pretty (for people)",
    fallback: "pretty on a terminal, otherwise json",
    parse: ifSet((text, name) => oneOf(text, name, logFormats)),
  },
  sample: {
    name: "HLUST_LOG_SAMPLE",
    meaning:
      "Share of calls and jobs whose lines below warn are logged, 0 to 1; other lines always are",
    fallback: "1",
    parse: (text, name) => share(text ?? "1", name),
  },
  isAccessLogged: {
    name: "HLUST_ACCESS_LOG",
    meaning: "Whether each call is logged when it has ended (call.ended), at any level of the log",
    fallback: "false",
    parse: (text, name) => oneOf(text ?? "false", name, ["true", "false"] as const) === "true",
  },
  accessSample: {
    name: "HLUST_ACCESS_LOG_SAMPLE",
    meaning:
      "Share of calls in the access log, 0 to 1; calls that failed in the service always are in it",
    fallback: "1",
    parse: (text, name) => share(text ?? "1", name),
  },
} satisfies { [Key in keyof LogConfig]: Setting<LogConfig[Key]> };

export function readLog(read: ReadSetting): LogConfig {
  return {
    format: read<LogFormat | undefined>(logSettings.format),
    sample: read(logSettings.sample),
    isAccessLogged: read(logSettings.isAccessLogged),
    accessSample: read(logSettings.accessSample),
  };
}

function share(text: string, name: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value <= 1) return value;
  throw new ConfigError(`${name} must be 0 to 1, not ${JSON.stringify(text)}`);
}
