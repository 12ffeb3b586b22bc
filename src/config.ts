import { join } from "node:path";
import type { OpenIdSettings } from "./auth/open-id.ts";
import type { S3Settings } from "./media/s3-bucket.ts";
import { readBackupS3, type BackupS3 } from "./settings/backup-settings.ts";
import { readCallers, type CallerConfig } from "./settings/caller-settings.ts";
import { readDatabase, type DatabaseConfig } from "./settings/database-settings.ts";
import { readDrain, type DrainConfig } from "./settings/drain-settings.ts";
import { readEngines, type EngineConfig } from "./settings/engine-settings.ts";
import { frontSettings } from "./settings/front-settings.ts";
import { GivenSettings } from "./settings/given-settings.ts";
import { readLimits, type limitSettings } from "./settings/limit-settings.ts";
import { readLog, type LogConfig } from "./settings/log-settings.ts";
import { readMail, type MailConfig } from "./settings/mail-settings.ts";
import { memorySettings } from "./settings/memory-settings.ts";
import { readMetrics, type MetricsSettings } from "./settings/metrics-settings.ts";
import {
  modelKeysOf,
  modelSettings,
  readOnnx,
  type ModelConfig,
} from "./settings/model-settings.ts";
import { readOpenId } from "./settings/open-id-settings.ts";
import { readS3 } from "./settings/s3-settings.ts";
import { readService, type ServiceConfig } from "./settings/service-settings.ts";
import { settingGroups } from "./settings/setting-groups.ts";
import { readTls } from "./settings/tls-settings.ts";
import { readTracing } from "./settings/tracing-settings.ts";
import { readWyoming, type WyomingSettings } from "./settings/wyoming-settings.ts";
import type { CertificateFiles } from "./std/certificate.ts";
import { ConfigError, type Setting } from "./std/setting.ts";
import type { TracingOptions } from "./tracing/tracing-options.ts";

export { memoryOfNode, memoryShares, type MemoryShares } from "./settings/memory-settings.ts";
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
export interface Config extends ServiceConfig, ModelConfig {
  readonly database: DatabaseConfig;
  /** The processes that serve the port; 1: the main process itself. */
  readonly frontProcesses: number;
  /** The engine nodes that this node uses, or how it is one. */
  readonly engines: EngineConfig;
  readonly log: LogConfig;
  /** The limits of accounts for which the operator has set no others; 0 means no limit. */
  readonly accountLimits: Readonly<Record<keyof typeof limitSettings, number>>;
  readonly drain: DrainConfig;
  /** The bucket for media. If undefined, media is stored in the data folder. */
  readonly s3: S3Settings | undefined;
  /** How `hlust backup` and `hlust restore` access a bucket of backups. */
  readonly backupS3: BackupS3;
  /** The provider with which members sign in; undefined if there is none. */
  readonly openId: OpenIdSettings | undefined;
  readonly callers: CallerConfig;
  /** What mail is sent with. */
  readonly mail: MailConfig;
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
  const given = new GivenSettings(environment, settingGroups);
  const { problems } = given;
  const read = <T>(setting: Setting<T>): T => given.read(setting);
  const service = readService(read);
  const { dataFolder, role } = service;
  const config: Config = {
    ...service,
    database: readDatabase(read),
    engines: readEngines(read, role, problems),
    frontProcesses:
      role === "all" || role === "api" ? read<number>(frontSettings.frontProcesses) : 1,
    engineProcesses: read(modelSettings.engineProcesses),
    engine: read(modelSettings.engine),
    voiceActivity: read(modelSettings.voiceActivity),
    liveEffort: read(modelSettings.liveEffort),
    onnx: readOnnx(read),
    modelsFolder: read(modelSettings.modelsFolder) ?? join(dataFolder, "models"),
    modelChoice: read(modelSettings.modelChoice),
    modelKeys: modelKeysOf(environment),
    catalogueFile: read(modelSettings.catalogueFile),
    log: readLog(read),
    accountLimits: readLimits(read),
    drain: readDrain(read),
    s3: readS3(read, problems),
    backupS3: readBackupS3(read, problems),
    openId: readOpenId(read, problems),
    callers: readCallers(read),
    mail: readMail(read, service, problems),
    tls: readTls(read, problems),
    wyoming: readWyoming(read, dataFolder, problems),
    metrics: readMetrics(read, problems),
    tracing: readTracing(read),
    memoryMb: read<number | undefined>(memorySettings.memoryMb),
  };
  // Settings of S3 are read for media and for backups.
  return { config, problems: [...new Set(problems)] };
}
