import type { LiveConfig } from "./live-config.ts";
import type { ServedCertificate } from "./server/tls/served-certificate.ts";
import { errorFields, type Log } from "./std/log.ts";
import { ConfigError } from "./std/setting.ts";

/**
 * Reads the settings of a running service again, and logs what has changed. Invalid settings change
 * nothing.
 */
export async function reloadSettings(
  environment: NodeJS.ProcessEnv,
  live: LiveConfig,
  { log, certificate }: { readonly log: Log; readonly certificate: ServedCertificate | undefined },
): Promise<void> {
  try {
    const { changed, needRestart } = live.reload(environment);
    log.level = live.config.logLevel;
    log.info({ changed }, "settings.reloaded");
    if (needRestart.length > 0) {
      const problem = `changed, but needs a restart: ${needRestart.join(", ")}`;
      log.warn({ problem, settings: needRestart }, "settings.need_restart");
    }
  } catch (error) {
    const problem = error instanceof ConfigError ? error.message.split("\n") : errorFields(error);
    log.warn({ problem }, "settings.refused");
    return;
  }
  await certificate?.reload(live.config.tls);
}
