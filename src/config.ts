import { join, resolve } from "node:path";
import type { CertificateFiles } from "./std/certificate.ts";
import { canonicalLanguageCode } from "./std/language-code.ts";
import { logLevels, type LogLevel } from "./std/log.ts";
import { callerSettings, readCallers, type CallerConfig } from "./settings/caller-settings.ts";
import {
  databaseSettings,
  readDatabase,
  type DatabaseConfig,
} from "./settings/database-settings.ts";
import type { SettingGroups } from "./settings/config-file.ts";
import { configFileSetting, GivenSettings } from "./settings/given-settings.ts";
import { engineSettings, readEngines, type EngineConfig } from "./settings/engine-settings.ts";
import { drainSettings, readDrain, type DrainConfig } from "./settings/drain-settings.ts";
import { limitSettings, readLimits } from "./settings/limit-settings.ts";
import { logSettings, readLog, type LogConfig } from "./settings/log-settings.ts";
import { memorySettings } from "./settings/memory-settings.ts";
import { metricsSettings, readMetrics, type MetricsSettings } from "./settings/metrics-settings.ts";
import { modelKeysOf, modelSettings, type ModelConfig } from "./settings/model-settings.ts";
import type { OpenIdSettings } from "./auth/open-id.ts";
import type { S3Settings } from "./media/s3-bucket.ts";
import { openIdSettings, readOpenId } from "./settings/open-id-settings.ts";
import { backupSettings, readBackupS3, type BackupS3 } from "./settings/backup-settings.ts";
import { readS3, s3Settings } from "./settings/s3-settings.ts";
import { readTls, tlsSettings } from "./settings/tls-settings.ts";
import { readTracing, tracingSettings } from "./settings/tracing-settings.ts";
import type { TracingOptions } from "./tracing/tracing-options.ts";
import { readWyoming, wyomingSettings, type WyomingSettings } from "./settings/wyoming-settings.ts";
import { ConfigError, httpUrl, list, oneOf, whole, type Setting } from "./std/setting.ts";

export { memoryShares, type MemoryShares } from "./settings/memory-settings.ts";
export type {
  EngineChoice,
  LiveEffortChoice,
  VoiceActivityChoice,
} from "./settings/model-settings.ts";
export { engineChoices } from "./settings/model-settings.ts";
export { ConfigError } from "./std/setting.ts";

/**
 * The settings of the service. Only the command line reads process.env, and it passes the variables
 * to this file.
 */
export interface Config extends ModelConfig {
  readonly port: number;
  readonly host: string;
  /** The absolute path of the folder with all data of the service. */
  readonly dataFolder: string;
  /**
   * The address of the service in signed URLs and tokens. If undefined, the address that it listens
   * on is used.
   */
  readonly publicUrl: string | undefined;
  readonly database: DatabaseConfig;
  readonly role: ProcessRole;
  /** The engine nodes that this node uses, or how it is one. */
  readonly engines: EngineConfig;
  /**
   * CIDRs, addresses and host names, some with :port, that media URLs may reach in addition to
   * public addresses.
   */
  readonly allowMediaFrom: readonly string[];
  /** Networks and host names that webhooks may reach in addition to public addresses. */
  readonly allowWebhooksTo: readonly string[];
  readonly sandbox: SandboxChoice;
  readonly logLevel: LogLevel;
  readonly log: LogConfig;
  readonly keepMedia: boolean;
  readonly uploadBytesMax: number;
  /** The maximum length of a job's recording, in seconds. */
  readonly recordingSecondsMax: number;
  /** The maximum length of a live stream, in seconds. */
  readonly streamSecondsMax: number;
  /** The limits of accounts for which the operator has set no others; 0 means no limit. */
  readonly accountLimits: Readonly<Record<keyof typeof limitSettings, number>>;
  /** The language of calls in the protocols of other services that name none. */
  readonly defaultLanguage: string | undefined;
  /** The maximum size of a recording in a call of another service's protocol. */
  readonly callBytesMax: number;
  readonly drain: DrainConfig;
  /** A service configuration with HTTP rules. If undefined, the contract's own paths are used. */
  readonly httpRulesFile: string | undefined;
  /** The number of days for which removed media is kept. */
  readonly removedMediaDays: number;
  /** Days that transcripts stay in the bin; 0: there is no bin. */
  readonly binDays: number;
  /** The bucket for media. If undefined, media is stored in the data folder. */
  readonly s3: S3Settings | undefined;
  /** How `hlust backup` and `hlust restore` access a bucket of backups. */
  readonly backupS3: BackupS3;
  /** The provider with which members sign in; undefined if there is none. */
  readonly openId: OpenIdSettings | undefined;
  readonly callers: CallerConfig;
  /** The files of the certificate of the port; undefined for cleartext. */
  readonly tls: CertificateFiles | undefined;
  /** The listener of Wyoming; undefined if there is none. */
  readonly wyoming: WyomingSettings | undefined;
  /** Where the metrics are read; undefined if there are none. */
  readonly metrics: MetricsSettings | undefined;
  /** Where traces are sent; undefined if there are none. */
  readonly tracing: TracingOptions | undefined;
  /**
   * The memory of the main process. If undefined, half of the memory of the machine or container is
   * used.
   */
  readonly memoryMb: number | undefined;
}

export const processRoles = ["all", "api", "worker", "engine"] as const;
export type ProcessRole = (typeof processRoles)[number];
export const sandboxChoices = ["auto", "bubblewrap", "reduced"] as const;
export type SandboxChoice = (typeof sandboxChoices)[number];

const settings = {
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
    parse: (text, name) => (text === undefined ? undefined : httpUrl(text, name)),
  },
  role: {
    name: "HLUST_ROLE",
    meaning:
      "Role of this process: all, api (answers calls), worker (runs jobs) or engine (runs models for other nodes)",
    fallback: "all",
    parse: (text, name) => oneOf(text ?? "all", name, processRoles),
  },
  ...modelSettings,
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
    parse: (text, name) => (text === undefined ? undefined : languageCode(text, name)),
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
  httpRulesFile: {
    name: "HLUST_HTTP_RULES",
    meaning:
      "Service configuration (google.api.Service, YAML or JSON) whose HTTP rules replace the paths of the API",
    fallback: "the paths of the API's contract",
    parse: (text) => (text === undefined ? undefined : resolve(text)),
  },
} satisfies {
  [
    Key in keyof Omit<
      Config,
      | "database"
      | "s3"
      | "backupS3"
      | "openId"
      | "accountLimits"
      | "callers"
      | "drain"
      | "engines"
      | "memoryMb"
      | "tls"
      | "wyoming"
      | "metrics"
      | "tracing"
      | "log"
      | "modelKeys"
    >
  ]: Setting<Config[Key] | undefined>;
};

/** The settings, by their group in a configuration file. */
const groups: SettingGroups = {
  service: Object.values<Setting<unknown>>(settings).filter(
    (setting) => !Object.values<Setting<unknown>>(modelSettings).includes(setting),
  ),
  models: Object.values(modelSettings),
  engines: Object.values(engineSettings),
  database: Object.values(databaseSettings),
  limits: Object.values(limitSettings),
  s3: Object.values(s3Settings),
  backup: Object.values(backupSettings),
  openid: Object.values(openIdSettings),
  callers: Object.values(callerSettings),
  drain: Object.values(drainSettings),
  tls: Object.values(tlsSettings),
  wyoming: Object.values(wyomingSettings),
  metrics: Object.values(metricsSettings),
  tracing: Object.values(tracingSettings),
  log: Object.values(logSettings),
  memory: Object.values(memorySettings),
};

/**
 * Reads every setting. Throws ConfigError, which has a line for each unknown name and each invalid
 * setting.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const { config, problems } = examineConfig(environment);
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
  return config;
}

/** Reads every setting, with the default in place of an invalid one. Returns the problems too. */
export function examineConfig(environment: NodeJS.ProcessEnv): {
  readonly config: Config;
  readonly problems: readonly string[];
} {
  const given = new GivenSettings(environment, groups);
  const { problems } = given;
  const read = <T>(setting: Setting<T>): T => given.read(setting);
  const port = read(settings.port);
  const dataFolder = read(settings.dataFolder);
  const role = read(settings.role);
  const config: Config = {
    port,
    host: read(settings.host),
    dataFolder,
    publicUrl: read(settings.publicUrl),
    database: readDatabase(read),
    role,
    engines: readEngines(read, role, problems),
    engineProcesses: read(settings.engineProcesses),
    engine: read(settings.engine),
    voiceActivity: read(settings.voiceActivity),
    liveEffort: read(settings.liveEffort),
    modelsFolder: read(settings.modelsFolder) ?? join(dataFolder, "models"),
    modelChoice: read(settings.modelChoice),
    modelKeys: modelKeysOf(environment),
    catalogueFile: read(settings.catalogueFile),
    allowMediaFrom: read(settings.allowMediaFrom),
    allowWebhooksTo: read(settings.allowWebhooksTo),
    sandbox: read(settings.sandbox),
    logLevel: read(settings.logLevel),
    log: readLog(read),
    keepMedia: read(settings.keepMedia),
    uploadBytesMax: read(settings.uploadBytesMax),
    recordingSecondsMax: read(settings.recordingSecondsMax),
    streamSecondsMax: read(settings.streamSecondsMax),
    accountLimits: readLimits(read),
    defaultLanguage: read(settings.defaultLanguage),
    callBytesMax: read(settings.callBytesMax),
    drain: readDrain(read),
    httpRulesFile: read(settings.httpRulesFile),
    removedMediaDays: read(settings.removedMediaDays),
    binDays: read(settings.binDays),
    s3: readS3(read, problems),
    backupS3: readBackupS3(read, problems),
    openId: readOpenId(read, problems),
    callers: readCallers(read),
    tls: readTls(read, problems),
    wyoming: readWyoming(read, dataFolder, problems),
    metrics: readMetrics(read, problems),
    tracing: readTracing(read),
    memoryMb: read<number | undefined>(memorySettings.memoryMb),
  };
  // Settings of S3 are read for media and for backups.
  return { config, problems: [...new Set(problems)] };
}

/** Returns every setting as it was given, by name; empty for an unset one. */
export function settingTexts(environment: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const given = new GivenSettings(environment, groups);
  const all = Object.values(groups).flat();
  return new Map(all.map((setting) => [setting.name, given.find(setting).text]));
}

/** Returns whether a setting can change while the service runs. */
export function isLiveSetting(name: string): boolean {
  return Object.values(groups)
    .flat()
    .some((setting) => setting.name === name && setting.isLive);
}

/**
 * Returns each setting with its value, meaning and default, for `hlust config`. Secrets are not
 * shown.
 */
export function describeConfig(environment: NodeJS.ProcessEnv): string {
  readConfig(environment);
  const given = new GivenSettings(environment, groups);
  return [configFileSetting, ...Object.values(groups).flat()]
    .map((setting) => {
      const { name, meaning, fallback, secret = false } = setting;
      const { text, place } = given.find(setting);
      const shown = secret ? "(set)" : text;
      const notes = [
        ...(secret ? [] : [`default: ${fallback}`]),
        ...(place === undefined ? [] : [`from ${place}`]),
      ];
      const note = notes.length > 0 ? `   (${notes.join("; ")})` : "";
      return `${name}\n    ${meaning}\n    ${text === "" ? `default: ${fallback}` : `${shown}${note}`}\n`;
    })
    .join("");
}

function languageCode(text: string, name: string): string {
  const code = canonicalLanguageCode(text);
  if (code !== undefined) return code;
  throw new ConfigError(
    `${name} must be a language code such as is-IS, not ${JSON.stringify(text)}`,
  );
}
