import { readFile } from "node:fs/promises";
import { allowListOf } from "./app-options.ts";
import { examineConfig, type Config } from "./config.ts";
import { httpRulesOf } from "./served-services.ts";
import { readCertificate } from "./std/certificate.ts";
import { ConfigError } from "./std/setting.ts";

/** The result of a check of the settings. */
export interface CheckedConfig {
  /** A line for each problem; none if the service can start with the settings. */
  readonly problems: readonly string[];
  /** When the certificate expires; undefined without one. */
  readonly certificateExpiresAt: Date | undefined;
}

/**
 * Checks the settings and the files that they name, as a start of the service does, but reports
 * every problem. Connects to nothing.
 */
export async function checkConfig(environment: NodeJS.ProcessEnv): Promise<CheckedConfig> {
  const { config, problems } = examineConfig(environment);
  let certificateExpiresAt: Date | undefined;
  const checks: (() => Promise<unknown>)[] = [
    () => allows("HLUST_ALLOW_MEDIA_FROM", config.allowMediaFrom),
    () => allows("HLUST_ALLOW_WEBHOOKS_TO", config.allowWebhooksTo),
    () => httpRulesOf(config),
    () => readableFiles(config),
    async () => {
      if (!config.tls) return;
      ({ expiresAt: certificateExpiresAt } = await readCertificate(config.tls));
    },
  ];
  const found: string[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      found.push(error.message);
    }
  }
  return { problems: [...problems, ...found], certificateExpiresAt };
}

async function allows(setting: string, entries: readonly string[]): Promise<void> {
  allowListOf(setting, entries);
  return Promise.resolve();
}

/** Checks that files can be read that are otherwise read only when they are needed. */
async function readableFiles({ catalogueFile }: Config): Promise<void> {
  if (catalogueFile === undefined) return;
  try {
    JSON.parse(await readFile(catalogueFile, "utf8"));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`HLUST_CATALOGUE: ${catalogueFile} cannot be used: ${reason}`, {
      cause: error,
    });
  }
}
