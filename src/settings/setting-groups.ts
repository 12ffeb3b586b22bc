import type { Setting } from "../std/setting.ts";
import { backupSettings } from "./backup-settings.ts";
import { callerSettings } from "./caller-settings.ts";
import type { SettingGroups } from "./config-file.ts";
import { databaseSettings } from "./database-settings.ts";
import { drainSettings } from "./drain-settings.ts";
import { engineSettings } from "./engine-settings.ts";
import { GivenSettings } from "./given-settings.ts";
import { frontSettings } from "./front-settings.ts";
import { limitSettings } from "./limit-settings.ts";
import { logSettings } from "./log-settings.ts";
import { mailSettings } from "./mail-settings.ts";
import { memorySettings } from "./memory-settings.ts";
import { metricsSettings } from "./metrics-settings.ts";
import { modelSettings, onnxSettings } from "./model-settings.ts";
import { openIdSettings } from "./open-id-settings.ts";
import { s3Settings } from "./s3-settings.ts";
import { serviceSettings } from "./service-settings.ts";
import { tlsSettings } from "./tls-settings.ts";
import { tracingSettings } from "./tracing-settings.ts";
import { wyomingSettings } from "./wyoming-settings.ts";

/** The settings, by their group in a configuration file. */
export const settingGroups: SettingGroups = {
  service: Object.values<Setting<unknown>>(serviceSettings),
  models: [...Object.values(modelSettings), ...Object.values(onnxSettings)],
  engines: Object.values(engineSettings),
  fronts: Object.values(frontSettings),
  database: Object.values(databaseSettings),
  limits: Object.values(limitSettings),
  s3: Object.values(s3Settings),
  backup: Object.values(backupSettings),
  openid: Object.values(openIdSettings),
  callers: Object.values(callerSettings),
  mail: Object.values<Setting<unknown>>(mailSettings),
  drain: Object.values(drainSettings),
  tls: Object.values(tlsSettings),
  wyoming: Object.values(wyomingSettings),
  metrics: Object.values(metricsSettings),
  tracing: Object.values(tracingSettings),
  log: Object.values(logSettings),
  memory: Object.values(memorySettings),
};

/** Returns whether a setting can change while the service runs. */
export function isLiveSetting(name: string): boolean {
  return Object.values(settingGroups)
    .flat()
    .some((setting) => setting.name === name && setting.isLive);
}

/** Returns every setting as it was given, by name; empty for an unset one. */
export function settingTexts(environment: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const given = new GivenSettings(environment, settingGroups);
  const all = Object.values(settingGroups).flat();
  return new Map(all.map((setting) => [setting.name, given.find(setting).text]));
}
