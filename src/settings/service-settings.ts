import { resolve } from "node:path";
import { canonicalLanguageCode } from "../std/language-code.ts";
import { logLevels, type LogLevel } from "../std/log.ts";
import {
  ConfigError,
  httpUrl,
  ifSet,
  list,
  oneOf,
  whole,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** What this node is, where it keeps its data, and what it accepts. */
export interface ServiceConfig {
  readonly port: number;
  readonly host: string;
  /** The absolute path of the folder with all data of the service. */
  readonly dataFolder: string;
  /**
   * The address of the service in signed URLs and tokens. If undefined, the address that it listens
   * on is used.
   */
  readonly publicUrl: string | undefined;
  readonly role: ProcessRole;
  /**
   * CIDRs, addresses and host names, some with :port, that media URLs may reach in addition to
   * public addresses.
   */
  readonly allowMediaFrom: readonly string[];
  /** Networks and host names that webhooks may reach in addition to public addresses. */
  readonly allowWebhooksTo: readonly string[];
  readonly sandbox: SandboxChoice;
  readonly logLevel: LogLevel;
  readonly keepMedia: boolean;
  readonly uploadBytesMax: number;
  /** The maximum length of a job's recording, in seconds. */
  readonly recordingSecondsMax: number;
  /** The maximum length of a live stream, in seconds. */
  readonly streamSecondsMax: number;
  /** The language of calls in the protocols of other services that name none. */
  readonly defaultLanguage: string | undefined;
  /** The maximum size of a recording in a call of another service's protocol. */
  readonly callBytesMax: number;
  /** The number of days for which removed media is kept. */
  readonly removedMediaDays: number;
  /** Days that transcripts stay in the bin; 0: there is no bin. */
  readonly binDays: number;
  /** The number of days for which the audit log is kept; 0: forever. */
  readonly auditDays: number;
  /** A service configuration with HTTP rules. If undefined, the contract's own paths are used. */
  readonly httpRulesFile: string | undefined;
}

/** The least number of days for which the audit log is kept. The database enforces it. */
const auditDaysMin = 30;

const processRoles = ["all", "api", "worker", "engine"] as const;
export type ProcessRole = (typeof processRoles)[number];
const sandboxChoices = ["auto", "bubblewrap", "reduced"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

export const serviceSettings = {
  port: {
    name: "HLUST_PORT",
    meaning: "Port to listen on; 0 picks a free one",
    fallback: "8080",
    parse: (text, name) => whole(text ?? "8080", name, 0, 65_535),
  },
  host: {
    name: "HLUST_HOST",
    meaning: "Address to listen on",
    fallback: "127.0.0.1",
    parse: (text) => text ?? "127.0.0.1",
  },
  dataFolder: {
    name: "HLUST_DATA",
    meaning: "Folder of all data of the service",
    fallback: "./data",
    parse: (text) => resolve(text ?? "data"),
  },
  publicUrl: {
    name: "HLUST_PUBLIC_URL",
    meaning: "The public address of the service, in signed URLs and as the audience of tokens",
    fallback: "the address it listens on",
    parse: ifSet(httpUrl),
  },
  role: {
    name: "HLUST_ROLE",
    meaning:
      "Role of this process: all, api (answers calls), worker (runs jobs) or engine (runs models for other nodes)",
    fallback: "all",
    parse: (text, name) => oneOf(text ?? "all", name, processRoles),
  },
  allowMediaFrom: {
    name: "HLUST_ALLOW_MEDIA_FROM",
    meaning:
      "Networks (CIDR), addresses and hosts that media URLs may reach in addition to ports 80 and 443 of public addresses, separated by commas; with :port only that port",
    fallback: "none",
    isList: true,
    parse: (text) => list(text),
  },
  allowWebhooksTo: {
    name: "HLUST_ALLOW_WEBHOOKS_TO",
    meaning:
      "Networks (CIDR) and hosts that webhooks may reach in addition to public addresses, separated by commas",
    fallback: "none",
    isList: true,
    parse: (text) => list(text),
  },
  sandbox: {
    name: "HLUST_SANDBOX",
    meaning:
      "Sandbox for decoding media: bubblewrap (required: no start without it), reduced (even as the service's own user, who can read all data), or auto (the best available)",
    fallback: "auto",
    parse: (text, name) => oneOf(text ?? "auto", name, sandboxChoices),
  },
  logLevel: {
    name: "HLUST_LOG",
    meaning: `Lowest level that is logged: ${logLevels.join(", ")}`,
    fallback: "info",
    isLive: true,
    parse: (text, name) => oneOf(text ?? "info", name, logLevels),
  },
  keepMedia: {
    name: "HLUST_KEEP_MEDIA",
    meaning: "Whether the media of a job is kept as its transcript's media",
    fallback: "true",
    parse: (text, name) => oneOf(text ?? "true", name, ["true", "false"] as const) === "true",
  },
  uploadBytesMax: {
    name: "HLUST_UPLOAD_BYTES_MAX",
    meaning: "Largest media file that is accepted, in bytes",
    fallback: "8589934592 (8 GiB)",
    parse: (text, name) => whole(text ?? "8589934592", name, 1, Number.MAX_SAFE_INTEGER),
  },
  recordingSecondsMax: {
    name: "HLUST_RECORDING_SECONDS_MAX",
    meaning: "Longest recording of a job, in seconds; at most 86400 (24 h)",
    fallback: "28800 (8 h)",
    // A queue's lease lasts for at most a day, and times are stored as milliseconds in 32 bits (24
    // days).
    parse: (text, name) => whole(text ?? "28800", name, 1, 24 * 3600),
  },
  streamSecondsMax: {
    name: "HLUST_STREAM_SECONDS_MAX",
    meaning: "Longest live stream, in seconds",
    fallback: "14400 (4 h)",
    isLive: true,
    parse: (text, name) => whole(text ?? "14400", name, 1, 7 * 24 * 3600),
  },
  defaultLanguage: {
    name: "HLUST_DEFAULT_LANGUAGE",
    meaning:
      "Language of calls in the protocols of other services (docs/dialects.md) that name none, for example is-IS",
    fallback: "the only installed one",
    parse: ifSet(languageCode),
  },
  callBytesMax: {
    name: "HLUST_CALL_BYTES_MAX",
    meaning: "Largest recording in a call of OpenAI's protocol (docs/dialects.md), in bytes",
    fallback: "26214400 (25 MiB)",
    parse: (text, name) => whole(text ?? "26214400", name, 1, 2 ** 31),
  },
  removedMediaDays: {
    name: "HLUST_REMOVED_MEDIA_DAYS",
    meaning:
      "Days that removed media (without a row in the database) is kept before it is deleted; 1 to 3650",
    fallback: "30",
    parse: (text, name) => whole(text ?? "30", name, 1, 3650),
  },
  binDays: {
    name: "HLUST_BIN_DAYS",
    meaning:
      "Days that transcripts that were deleted in the console stay in the bin; 0 (deleted at once) to 3650",
    fallback: "30",
    parse: (text, name) => whole(text ?? "30", name, 0, 3650),
  },
  auditDays: {
    name: "HLUST_AUDIT_DAYS",
    meaning: "Days that the audit log is kept, 30 to 3650; 0: forever",
    fallback: "0",
    parse: (text, name) => {
      const days = whole(text ?? "0", name, 0, 3650);
      if (days === 0 || days >= auditDaysMin) return days;
      throw new ConfigError(`${name} must be 0 (forever) or ${auditDaysMin} to 3650, not ${days}`);
    },
  },
  httpRulesFile: {
    name: "HLUST_HTTP_RULES",
    meaning:
      "Service configuration (google.api.Service, YAML or JSON) whose HTTP rules replace the paths of the API",
    fallback: "the paths of the API's contract",
    parse: ifSet((text) => resolve(text)),
  },
} satisfies { [Key in keyof ServiceConfig]: Setting<ServiceConfig[Key]> };

export function readService(read: ReadSetting): ServiceConfig {
  return {
    port: read(serviceSettings.port),
    host: read(serviceSettings.host),
    dataFolder: read(serviceSettings.dataFolder),
    publicUrl: read(serviceSettings.publicUrl),
    role: read(serviceSettings.role),
    allowMediaFrom: read(serviceSettings.allowMediaFrom),
    allowWebhooksTo: read(serviceSettings.allowWebhooksTo),
    sandbox: read(serviceSettings.sandbox),
    logLevel: read(serviceSettings.logLevel),
    keepMedia: read(serviceSettings.keepMedia),
    uploadBytesMax: read(serviceSettings.uploadBytesMax),
    recordingSecondsMax: read(serviceSettings.recordingSecondsMax),
    streamSecondsMax: read(serviceSettings.streamSecondsMax),
    defaultLanguage: read(serviceSettings.defaultLanguage),
    callBytesMax: read(serviceSettings.callBytesMax),
    removedMediaDays: read(serviceSettings.removedMediaDays),
    binDays: read(serviceSettings.binDays),
    auditDays: read(serviceSettings.auditDays),
    httpRulesFile: read(serviceSettings.httpRulesFile),
  };
}

function languageCode(text: string, name: string): string {
  const code = canonicalLanguageCode(text);
  if (code !== undefined) return code;
  throw new ConfigError(
    `${name} must be a language code such as is-IS, not ${JSON.stringify(text)}`,
  );
}
