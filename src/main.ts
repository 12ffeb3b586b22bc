import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { openApp, type App } from "./app.ts";
import type { Config } from "./config.ts";
import { findKeptSockets, type KeptSockets } from "./kept-sockets.ts";
import { LiveConfig } from "./live-config.ts";
import { openEngineNode } from "./open-engine-node.ts";
import { openLogs } from "./open-logs.ts";
import { reloadSettings } from "./reload-settings.ts";
import type { AccessLog } from "./server/access-log.ts";
import { errorFields, type Log } from "./std/log.ts";
import { openTracing } from "./tracing/open-tracing.ts";
import { takePassedSockets } from "./systemd/passed-sockets.ts";
import { openSupervisor } from "./systemd/supervisor.ts";

/**
 * The time from the beginning of the shutdown until the process exits, whether or not it has
 * drained.
 */
const stopMsMax = 28_000;
/** The time that a failed start has to close the parts that it opened. */
const giveUpMsMax = 4_000;

/**
 * Runs the service until SIGTERM or SIGINT, and prints its address when it is ready. On a signal
 * the service reports "draining" as its health, answers calls for HLUST_DRAIN_DELAY more, refuses
 * new ones while open ones end, for at most HLUST_DRAIN, and exits with 0. A second signal ends
 * both times. Throws if the service cannot be opened.
 */
export async function serve(
  environment: NodeJS.ProcessEnv,
  { isQuarantined }: { readonly isQuarantined: boolean },
): Promise<void> {
  const live = new LiveConfig(environment);
  const { config } = live;
  const { log, access } = openLogs(config);
  const kept = await findKeptSockets(config, await takePassedSockets(environment));
  const stop = listenForSignals(log);
  await using _tracing = config.tracing && (await openTracing(config.tracing, log));
  let opened: App | undefined;
  listenForReloads(log, async () => {
    await reloadSettings(environment, live, { log, certificate: opened?.certificate });
    opened?.fronts?.reload();
  });
  process.on("SIGUSR2", () => {
    log.info({ signal: "SIGUSR2" }, "service.signal");
    void opened?.fronts?.replace();
  });
  using supervisor = await openSupervisor(environment, log);
  stop.stopped.addEventListener("abort", () => supervisor.stopping());
  process.on("uncaughtException", (error) => {
    log.fatal(errorFields(error), "process.broken");
    process.exit(1);
  });

  try {
    await using app = await openWithin(config, {
      log,
      access,
      stopped: stop.stopped,
      isQuarantined,
      environment,
      kept,
    });
    opened = app;
    await sayReady(app, { log, stopped: stop.stopped });
    if (!stop.stopped.aborted) supervisor.ready();
    await aborted(stop.stopped);
    await drainApp(app, config, { log, hurried: stop.hurried });
    limitStop(log);
  } catch (error) {
    // If the service was stopped before it was ready, its open parts have been closed.
    if (!stop.stopped.aborted) throw error;
  }
}

/**
 * Takes the node out of service: reports it for HLUST_DRAIN_DELAY, and then waits for open calls
 * and streams for HLUST_DRAIN.
 */
async function drainApp(
  app: App,
  { role, drain }: Config,
  { log, hurried }: { readonly log: Log; readonly hurried: AbortSignal },
): Promise<void> {
  const { msMax } = drain;
  app.leave();
  // A worker has no clients that would have to switch to another node, and an engine node notifies
  // its own.
  const delayMs = role === "worker" || role === "engine" ? 0 : drain.delayMs;
  log.info({ delaySeconds: delayMs / 1000, drainSeconds: msMax / 1000 }, "service.stopping");
  await sleep(delayMs, undefined, { signal: hurried }).catch(() => {});
  if (msMax > 0 && !hurried.aborted) await app.drain(msMax, hurried);
}

/**
 * Listens for signals: `stopped` aborts at the first SIGTERM or SIGINT, `hurried` at the second.
 */
function listenForSignals(log: Log): {
  readonly stopped: AbortSignal;
  readonly hurried: AbortSignal;
} {
  const [stopped, hurried] = [new AbortController(), new AbortController()];
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      log.info({ signal }, "service.signal");
      if (stopped.signal.aborted) hurried.abort();
      stopped.abort();
    });
  }
  return { stopped: stopped.signal, hurried: hurried.signal };
}

/** Reloads the settings at each SIGHUP, one time after the other. */
function listenForReloads(log: Log, reload: () => Promise<void>): void {
  let reloading = Promise.resolve();
  process.on("SIGHUP", () => {
    log.info({ signal: "SIGHUP" }, "service.signal");
    reloading = reloading.then(reload);
  });
}

/**
 * Opens the service. If opening fails or is aborted by a signal, the process still exits within its
 * time limit.
 */
async function openWithin(
  config: Config,
  options: {
    readonly log: Log;
    readonly access: AccessLog | undefined;
    readonly stopped: AbortSignal;
    readonly isQuarantined: boolean;
    readonly environment: NodeJS.ProcessEnv;
    readonly kept: KeptSockets;
  },
): Promise<App> {
  const { stopped, ...opening } = options;
  let limit: NodeJS.Timeout | undefined;
  const limitStart = () => {
    limit = limitStop(opening.log);
  };
  stopped.addEventListener("abort", limitStart);
  try {
    const onFailure = (error: unknown) => {
      if (!stopped.aborted) limit = endSoon(error);
    };
    const open = config.role === "engine" ? openEngineNode : openApp;
    const app = await open(config, { ...opening, signal: stopped, onFailure });
    // The shutdown has its own time limit.
    clearTimeout(limit);
    return app;
  } catch (error) {
    // Otherwise both endSoon() and the caller that catches the error would print the reason.
    if (!stopped.aborted) clearTimeout(limit);
    throw error;
  } finally {
    stopped.removeEventListener("abort", limitStart);
  }
}

/** Ends the process if it has not drained and closed in time. */
function limitStop(log: Log): NodeJS.Timeout {
  return setTimeout(() => {
    log.error({ stopMsMax }, "service.stopped_late");
    process.exit(1);
  }, stopMsMax).unref();
}

/** Ends the process if closing does not finish, and prints the reason. */
function endSoon(error: unknown): NodeJS.Timeout {
  return setTimeout(() => {
    process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }, giveUpMsMax).unref();
}

/**
 * Prints the address, the first key and the first link to standard output. The log is written to
 * standard error, and contains neither the key nor the link.
 */
async function sayReady(
  app: App,
  { log, stopped }: { readonly log: Log; readonly stopped: AbortSignal },
): Promise<void> {
  const {
    address,
    engineAddress,
    wyomingAddress,
    metricsAddress,
    firstKey,
    firstLink,
    quarantine,
  } = app;
  if (firstKey) say(`the first API key is ${firstKey.secret} (kept in ${firstKey.file})`);
  if (firstLink) say(`open the console, signed in, once and within 10 minutes: ${firstLink}`);
  if (quarantine !== undefined) {
    say(
      `in quarantine: ${quarantine}. Calls are answered; no job runs, no webhook is sent, nothing is swept or deleted. ` +
        "If this is now the only service of the archive: run `hlust archive release`, and start again.",
    );
  }
  const loading = app.loading();
  if (loading.length > 0) {
    say(`answering at ${address}; models are being loaded: ${loading.join(", ")}`);
    log.info({ address, loading }, "service.answering");
    await app.loaded(stopped).catch(() => {});
    if (stopped.aborted) return;
  }
  say(`ready at ${address}`);
  if (engineAddress !== undefined) say(`serving other nodes at ${engineAddress}`);
  if (wyomingAddress !== undefined) say(`ready for Wyoming at ${wyomingAddress}`);
  if (metricsAddress !== undefined) say(`metrics at ${metricsAddress}/metrics`);
  log.info({ address, ...(wyomingAddress !== undefined && { wyomingAddress }) }, "service.ready");
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
