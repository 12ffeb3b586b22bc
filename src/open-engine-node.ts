import { availableParallelism } from "node:os";
import type { App } from "./app.ts";
import { networkOf, openListen } from "./app-options.ts";
import type { Config } from "./config.ts";
import { openEngineListener } from "./engines/nodes/serve-engines.ts";
import { SharedProcesses } from "./engines/nodes/shared-processes.ts";
import { openEnginePool } from "./engines/pool/engine-pool.ts";
import type { KeptSockets } from "./kept-sockets.ts";
import { createNodeMetrics } from "./open-metrics.ts";
import { engineNodeHealth, loadingModels } from "./readiness.ts";
import { openServer } from "./server/server.ts";
import { isLoopbackHost } from "./std/loopback.ts";
import type { Log } from "./std/log.ts";
import { prepareDataFolder } from "./std/prepare-data-folder.ts";
import { reachable } from "./std/reachable.ts";
import { ServiceError } from "./std/service-error.ts";
import { ConfigError } from "./std/setting.ts";

/** How often the sessions of a node that is being stopped are counted. */
const countMs = 100;

/**
 * Opens an engine node: its models, the listener for other nodes, and HLUST_PORT, which answers
 * health checks only. It has neither a database nor media. Throws as openApp() does.
 */
export async function openEngineNode(
  config: Config,
  options: {
    readonly log: Log;
    readonly signal: AbortSignal;
    /** The sockets that stay open after this process. Default: none. */
    readonly kept?: KeptSockets;
    /** Called with the reason for a failed opening, before the open parts are closed. */
    readonly onFailure: (error: unknown) => void;
  },
): Promise<App> {
  await using parts = new AsyncDisposableStack();
  try {
    return await openParts(config, parts, options);
  } catch (error) {
    options.onFailure(error);
    throw error;
  }
}

async function openParts(
  config: Config,
  parts: AsyncDisposableStack,
  {
    log,
    signal,
    kept = {},
  }: { readonly log: Log; readonly signal: AbortSignal; readonly kept?: KeptSockets },
): Promise<App> {
  const { listen } = config.engines;
  if (!listen)
    throw new ConfigError("HLUST_ENGINE_LISTEN and HLUST_ENGINE_CREDENTIAL are required");
  const port = await openListen(config, parts, { kept, log });
  await prepareDataFolder(config.dataFolder);
  const metrics = parts.use(await createNodeMetrics(config));
  const shared = new SharedProcesses();
  const recognizer = parts.use(
    await openEnginePool({
      engine: config.engine,
      voiceActivity: config.voiceActivity,
      onnx: config.onnx,
      processes: config.engineProcesses,
      modelsFolder: config.modelsFolder,
      share: shared,
      recorder: metrics.engines,
      log,
      signal,
    }),
  );
  if (!port.certificate && !isLoopbackHost(listen.host)) {
    const problem = "audio, text and the credential pass in clear: set HLUST_TLS_CERTIFICATE";
    log.warn({ problem }, "engine.not_encrypted");
  }
  const loading = () => loadingModels(recognizer.state());
  const listener = parts.use(
    await openEngineListener(shared, {
      at: listen,
      credential: listen.credential,
      certificate: port.certificate,
      cores: availableParallelism(),
      isLoading: () => loading().length > 0,
      log,
    }),
  );
  let address = "";
  const publicUrl = () => reachable(address);
  const server = parts.use(
    await openServer(port, {
      api: { services: [], authenticator: noCallers },
      network: networkOf(config, publicUrl),
      health: engineNodeHealth(recognizer),
      ...metrics.server,
      log,
    }),
  );
  address = server.address;
  const metricsAddress = await metrics.listen(parts, { recognizer, server, ...port });
  const open = parts.move();
  return {
    address,
    engineAddress: listener.address,
    wyomingAddress: undefined,
    metricsAddress,
    certificate: port.certificate,
    firstKey: undefined,
    firstLink: undefined,
    quarantine: undefined,
    loading,
    loaded: (stopped) => recognizer.loaded(stopped),
    leave() {
      server.leave();
      shared.leave();
    },
    drain: (msMax, hurried) => sessionsMoved(shared, msMax, hurried),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Waits until other nodes have taken over all sessions. */
async function sessionsMoved(
  shared: SharedProcesses,
  msMax: number,
  hurried: AbortSignal,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const limit = setTimeout(resolve, msMax);
  const counts = setInterval(() => {
    if (shared.sessions === 0) resolve();
  }, countMs);
  hurried.addEventListener("abort", () => resolve());
  await promise;
  clearTimeout(limit);
  clearInterval(counts);
}

/** An engine node has no callers. */
const noCallers = {
  authenticate: () =>
    Promise.reject(new ServiceError("unauthenticated", "an engine node answers no calls")),
  watch: () => ({ [Symbol.dispose]() {} }),
};
