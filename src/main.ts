import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { openApp, type App } from "./app.ts";
import { type Config, readConfig } from "./config.ts";
import { createLog, errorFields, type Log } from "./std/log.ts";

/** Drained or not, the process ends this long after it began to. */
const stopMsMax = 28_000;
/** What a start that fails had opened has this long to close. */
const giveUpMsMax = 4_000;

/**
 * Runs the service until SIGTERM or SIGINT: says where it listens when it is ready. When it is told
 * to stop, it says so to those who ask about its health, goes on for HLUST_DRAIN_SECONDS (a second
 * signal ends that), drains, and exits 0. Throws when it cannot be opened.
 */
export async function serve(
  environment: NodeJS.ProcessEnv,
  { isQuarantined }: { readonly isQuarantined: boolean },
): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(config.logLevel);
  const stop = listenForSignals(log);
  process.on("uncaughtException", (error) => {
    log.fatal(errorFields(error), "process.broken");
    process.exit(1);
  });

  try {
    await using app = await openWithin(config, { log, told: stop.told, isQuarantined });
    await sayReady(app, { log, told: stop.told });
    await aborted(stop.told);
    app.leave();
    // A worker has no callers that could look elsewhere.
    const drainSeconds = config.role === "worker" ? 0 : config.drainSeconds;
    log.info({ drainSeconds }, "service.stopping");
    await sleep(drainSeconds * 1000, undefined, { signal: stop.hurried }).catch(() => {});
    limitStop(log);
  } catch (error) {
    // Told to stop before it was ready: what was open is closed.
    if (!stop.told.aborted) throw error;
  }
}

/** `told` aborts with the first SIGTERM or SIGINT, `hurried` with the second. */
function listenForSignals(log: Log): { readonly told: AbortSignal; readonly hurried: AbortSignal } {
  const [told, hurried] = [new AbortController(), new AbortController()];
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      log.info({ signal }, "service.signal");
      if (told.signal.aborted) hurried.abort();
      told.abort();
    });
  }
  // Supervisors send it to have settings read again, and terminals when they are closed: nothing of
  // the service needs it.
  process.on("SIGHUP", () => {
    log.info({ signal: "SIGHUP" }, "service.signal_ignored");
  });
  return { told: told.signal, hurried: hurried.signal };
}

/**
 * Opens the service; where that fails, or is given up because the service is told to stop, the
 * process ends in time all the same.
 */
async function openWithin(
  config: Config,
  options: { readonly log: Log; readonly told: AbortSignal; readonly isQuarantined: boolean },
): Promise<App> {
  const { log, told, isQuarantined } = options;
  let limit: NodeJS.Timeout | undefined;
  const limitStart = () => {
    limit = limitStop(log);
  };
  told.addEventListener("abort", limitStart);
  try {
    const onFailure = (error: unknown) => {
      if (!told.aborted) limit = endSoon(error);
    };
    const app = await openApp(config, { log, signal: told, isQuarantined, onFailure });
    // It says what its own end may take.
    clearTimeout(limit);
    return app;
  } catch (error) {
    // Else the reason is printed here, and where this is caught.
    if (!told.aborted) clearTimeout(limit);
    throw error;
  } finally {
    told.removeEventListener("abort", limitStart);
  }
}

/** Ends the process where it has not drained and closed in time. */
function limitStop(log: Log): NodeJS.Timeout {
  return setTimeout(() => {
    log.error({ stopMsMax }, "service.stopped_late");
    process.exit(1);
  }, stopMsMax).unref();
}

/** The last resort where what was opened does not close: the reason is printed all the same. */
function endSoon(error: unknown): NodeJS.Timeout {
  return setTimeout(() => {
    process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }, giveUpMsMax).unref();
}

/**
 * For people, on standard output: the log is on standard error, and has neither the key nor the
 * link.
 */
async function sayReady(
  app: App,
  { log, told }: { readonly log: Log; readonly told: AbortSignal },
): Promise<void> {
  const { address, firstKey, firstLink, quarantine } = app;
  if (firstKey) say(`the first API key is ${firstKey.secret} (kept in ${firstKey.file})`);
  if (firstLink) say(`open the console, signed in, once and within 10 minutes: ${firstLink}`);
  if (quarantine !== undefined) {
    say(
      `in quarantine: ${quarantine}. Calls are answered; no job runs, no webhook is sent, nothing is swept or deleted. ` +
        "When the archive goes on here, and nowhere else: run `hlust archive release`, and start again.",
    );
  }
  const loading = app.loading();
  if (loading.length > 0) {
    say(`answering at ${address}; models are being loaded: ${loading.join(", ")}`);
    log.info({ address, loading }, "service.answering");
    await app.loaded(told).catch(() => {});
    if (told.aborted) return;
  }
  say(`ready at ${address}`);
  log.info({ address }, "service.ready");
}

function say(text: string): void {
  process.stdout.write(`hlust: ${text}\n`);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    });
  });
}
