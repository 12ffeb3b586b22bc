// The program of a front process: it serves the connections that the main process of its node gives
// it (fronts/front-process.ts), with the engines of the main process.
import process from "node:process";
import { openApp, type App } from "./app.ts";
import { frontName } from "./fronts/front-messages.ts";
import { MainLink } from "./fronts/main-link.ts";
import { LiveConfig } from "./live-config.ts";
import { frontConfig } from "./open-fronts.ts";
import { openLogs } from "./open-logs.ts";
import { reloadSettings } from "./reload-settings.ts";
import { errorFields } from "./std/log.ts";
import { openTracing } from "./tracing/open-tracing.ts";

// The main process decides what signals mean; a terminal sends them to all processes of a job.
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const) {
  process.on(signal, () => {});
}

const link = await MainLink.open();
const { start } = link;
try {
  await serve();
  process.exit(0);
} catch (error) {
  await link.failed(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

async function serve(): Promise<void> {
  const live = new LiveConfig(process.env, (config) => frontConfig(config, start));
  const { log, access } = openLogs(live.config, frontName(start.front));
  process.on("uncaughtException", (error) => {
    log.fatal(errorFields(error), "process.broken");
    process.exit(1);
  });
  link.onUnread = (error) => log.error(errorFields(error), "metrics.not_read");
  const { tracing } = live.config;
  await using _tracing = tracing && (await openTracing(tracing, log));
  const closed = new AbortController();
  await using app = await openApp(live.config, {
    log,
    access,
    signal: closed.signal,
    isQuarantined: start.isQuarantined,
    front: link,
  });
  await servedUntilClosed(app, () =>
    reloadSettings(process.env, live, { log, certificate: app.certificate }),
  );
}

/** Serves until the main process asks for the end, and drains the app. */
async function servedUntilClosed(app: App, reload: () => Promise<void>): Promise<void> {
  const hurried = new AbortController();
  const end = Promise.withResolvers<void>();
  let reloading = Promise.resolve();
  link.serve({
    leave: () => app.leave(),
    drain(msMax, isReplaced) {
      if (!isReplaced) app.leave();
      const draining = msMax > 0 ? app.drain(msMax, hurried.signal, isReplaced) : undefined;
      Promise.resolve(draining).then(end.resolve, end.reject);
    },
    hurry: () => hurried.abort(),
    close: () => end.resolve(),
    reload() {
      reloading = reloading.then(reload);
    },
  });
  await end.promise;
  await link.measure();
}
