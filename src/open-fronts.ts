import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Config, ConfigError } from "./config.ts";
import { openEngineListener } from "./engines/nodes/serve-engines.ts";
import type { SharedProcesses } from "./engines/nodes/shared-processes.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import type { FrontStart } from "./fronts/front-messages.ts";
import { FrontProcesses, type FrontProcessesOptions } from "./fronts/front-processes.ts";
import type { SharedPort } from "./fronts/shared-port.ts";
import { loadingModels } from "./readiness.ts";
import type { Log } from "./std/log.ts";

/**
 * The silence after which a front process and the main process give each other up. Between machines
 * it is shorter: here the end of a process is noticed in any case, and a busy machine should not
 * cause a replay of all streams.
 */
const silentMsMax = 30_000;
/** The maximum length of the path of a Unix socket (unix(7)). */
const socketPathBytesMax = 107;
const longestName = "fronts-XXXXXX/process-0000000000";

/**
 * Starts the front processes of this node on a port, and serves them the engines of this process
 * over a Unix socket. Rejects if one of them cannot be started.
 */
export async function openFronts(
  config: Config,
  parts: AsyncDisposableStack,
  given: Pick<FrontProcessesOptions, "environment" | "onArrival" | "scrape" | "signal"> & {
    readonly port: SharedPort;
    readonly shared: SharedProcesses;
    readonly recognizer: Pick<EnginePool, "state">;
    readonly isQuarantined: boolean;
    readonly log: Log;
  },
): Promise<FrontProcesses> {
  const { port, shared, recognizer, isQuarantined, ...options } = given;
  const socketPath = await createSocketPath(config.dataFolder, parts);
  const credential = randomBytes(32).toString("hex");
  await shared.listenIn(dirname(socketPath), randomBytes(32).toString("hex"));
  parts.use(
    await openEngineListener(shared, {
      at: { socketPath },
      credential,
      cores: availableParallelism(),
      silentMsMax,
      isLoading: () => loadingModels(recognizer.state()).length > 0,
      log: given.log,
    }),
  );
  return parts.use(
    await FrontProcesses.open(port, {
      ...options,
      count: config.frontProcesses,
      start: { engines: { socketPath, credential }, isQuarantined },
      drainMsMax: () => config.drain.msMax,
    }),
  );
}

/** Creates a folder that only this user can read. Returns the path of a socket in it. */
async function createSocketPath(dataFolder: string, parts: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(socketsIn(dataFolder, tmpdir()), "fronts-"));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  return join(folder, "engines");
}

/**
 * Returns the folder for the sockets of front processes: that of the data, or that of temporary
 * files if its path is too long for a socket. Throws a ConfigError if both are.
 */
export function socketsIn(dataFolder: string, temporary: string): string {
  const lengthMax = socketPathBytesMax - Buffer.byteLength(`/${longestName}`);
  const folder = [dataFolder, temporary].find((each) => Buffer.byteLength(each) <= lengthMax);
  if (folder !== undefined) return folder;
  const lengths = [dataFolder, temporary].map((each) => Buffer.byteLength(each));
  throw new ConfigError(
    `HLUST_DATA and TMPDIR have ${lengths.join(" and ")} bytes; one of both must have at most ${lengthMax} for the sockets of front processes: choose a shorter folder, or set HLUST_FRONT_PROCESSES to 1`,
  );
}

/**
 * Returns the settings of a front process: it runs neither models nor other listeners itself. It
 * uses the engines of the main process, and the engine nodes of the settings.
 */
export function frontConfig(config: Config, { engines }: Pick<FrontStart, "engines">): Config {
  const { database } = config;
  const main = { ...engines, silentMsMax };
  const name = { host: "localhost", port: 80, isEncrypted: false, main };
  const given = config.engines.nodes ?? { names: [], credential: "", authorities: undefined };
  return {
    ...config,
    role: "api",
    engines: {
      listen: undefined,
      nodes: { ...given, names: [name, ...given.names] },
      hasOwnModels: false,
    },
    database: { ...database, connectionsMax: databaseShare(config) },
    wyoming: undefined,
  };
}

/** The least number of connections with which a process serves. */
const connectionsMin = 4;

/** Returns the database connections of each process of a node. */
export function databaseShare({ database, frontProcesses }: Config): number {
  if (frontProcesses === 1) return database.connectionsMax;
  return Math.max(connectionsMin, Math.floor(database.connectionsMax / (frontProcesses + 1)));
}
