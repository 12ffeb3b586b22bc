import process from "node:process";
import { openApp } from "./app.ts";
import { readConfig } from "./config.ts";
import { createLog, errorFields } from "./std/log.ts";

/** Drained or not, the process ends this long after it was told to. */
const stopMsMax = 28_000;

/** Runs the service until SIGTERM or SIGINT: says where it listens when it is ready, drains when it is told to stop, exits 0. */
export async function serve(
  environment: NodeJS.ProcessEnv,
  { isQuarantined }: { readonly isQuarantined: boolean },
): Promise<void> {
  const config = readConfig(environment);
  const log = createLog(config.logLevel);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) return;
      log.info({ signal }, "service.stopping");
      stop.abort();
      setTimeout(() => {
        log.error({ stopMsMax }, "service.stopped_late");
        process.exit(1);
      }, stopMsMax).unref();
    });
  }
  process.on("uncaughtException", (error) => {
    log.fatal(errorFields(error), "process.broken");
    process.exit(1);
  });

  try {
    await using app = await openApp(config, { log, signal: stop.signal, isQuarantined });
    process.stdout.write(readyText(app));
    await stopped(stop.signal);
  } catch (error) {
    // Told to stop before it was ready: what was open is closed.
    if (!stop.signal.aborted) throw error;
  }
}

/** For people, on standard output: the log is on standard error, and has neither the key nor the link. */
function readyText(app: Awaited<ReturnType<typeof openApp>>): string {
  const { address, firstKey, firstLink, quarantine } = app;
  const key = firstKey
    ? `hlust: the first API key is ${firstKey.secret} (kept in ${firstKey.file})\n`
    : "";
  const link = firstLink
    ? `hlust: open the console, signed in, once and within 10 minutes: ${firstLink}\n`
    : "";
  const state =
    quarantine === undefined
      ? ""
      : `hlust: in quarantine: ${quarantine}. Calls are answered; no job runs, no webhook is sent, nothing is swept or deleted. ` +
        "When the archive goes on here, and nowhere else: run `hlust archive release`, and start again.\n";
  return `${key}${link}${state}hlust: ready at ${address}\n`;
}

async function stopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener("abort", () => {
      resolve();
    });
  });
}
