import { hostname } from "node:os";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import type {
  InstalledModelStatus,
  NodeModelStatus,
  NodeState,
  NodeStatus,
} from "./database/node-status.ts";
import type { EnginePool } from "./engines/pool/engine-pool.ts";
import type { EnginePoolState } from "./engines/pool/pool-state.ts";
import type { JobWorker } from "./jobs/worker/worker.ts";
import { builtinCatalogue } from "./models/catalogue.ts";
import { builtinModelsFolder, readModels, type ModelFolders } from "./models/models-folder.ts";
import { openModelTaskWorker } from "./nodes/model-task-worker.ts";
import { modelsFolderId } from "./nodes/models-folder-id.ts";
import { openNodePulse } from "./nodes/node-pulse.ts";
import { loadingModels } from "./readiness.ts";
import type { Server } from "./server/server.ts";
import { newId } from "./std/ids.ts";
import type { Log } from "./std/log.ts";
import { packageVersion } from "./std/version.ts";

type AnnouncedSettings = Pick<Config, "role" | "modelsFolder" | "catalogueFile" | "modelKeys">;

/** The parts of a node that it reports on. */
interface AnnouncedParts {
  readonly database: Pick<Database, "db">;
  readonly recognizer: Pick<EnginePool, "state">;
  readonly server: Pick<Server, "address" | "state">;
  /** Returns the number of live streams that the node has open. */
  readonly openStreams: () => number;
  readonly workers: readonly Pick<JobWorker, "running">[];
  readonly log: Log;
}

/**
 * Reports this node to the operators, and does their tasks with models, until the parts are
 * disposed of.
 */
export async function announceNode(
  { role, modelsFolder, catalogueFile = builtinCatalogue, modelKeys }: AnnouncedSettings,
  stack: AsyncDisposableStack,
  parts: AnnouncedParts,
): Promise<void> {
  const { database, log } = parts;
  const { db } = database;
  const folders = { builtin: builtinModelsFolder, installed: modelsFolder };
  const folderId = await modelsFolderId(modelsFolder);
  if (folderId !== undefined) {
    const tasks = { db, folders, folderId, catalogueFile, modelKeys, log };
    stack.use(openModelTaskWorker(tasks));
  }
  const status = async (): Promise<NodeStatus> => ({
    ...(await statusOf(role, parts)),
    modelsFolder: folderId ?? "",
    installedModels: await installedIn(folders),
  });
  stack.use(openNodePulse({ db, id: newId(), status, log }));
}

async function installedIn(folders: ModelFolders): Promise<InstalledModelStatus[]> {
  const { models } = await readModels(folders);
  return models.map(({ card, bytes, isBuiltin }) => {
    return { name: card.name, version: card.version, bytes, isBuiltin };
  });
}

async function statusOf(
  role: Config["role"],
  { recognizer, server, openStreams, workers }: AnnouncedParts,
): Promise<Omit<NodeStatus, "modelsFolder" | "installedModels">> {
  const pool = recognizer.state();
  return {
    host: hostname(),
    address: server.address,
    role,
    version: packageVersion(),
    state: await stateOf(server, pool),
    openStreams: openStreams(),
    runningJobs: workers.reduce((sum, { running }) => sum + running, 0),
    load: Number(pool.load.toFixed(3)),
    models: modelsOf(pool),
  };
}

async function stateOf(
  server: AnnouncedParts["server"],
  pool: EnginePoolState,
): Promise<NodeState> {
  const { isReady, isLeaving } = await server.state();
  if (isLeaving) return "DRAINING";
  if (loadingModels(pool).length > 0) return "STARTING";
  return isReady ? "READY" : "NOT_READY";
}

/**
 * Returns the models that serve, are being loaded or lack their server, and those that could not be
 * loaded.
 */
export function modelsOf({ models, refused }: EnginePoolState): NodeModelStatus[] {
  const served = models.map(({ loading: _loading, absent, ...model }): NodeModelStatus => {
    const missing = absent ? (`SERVER_${absent}` as const) : "LOADING";
    return { ...model, state: model.ready > 0 ? "SERVING" : missing };
  });
  const none = { version: "", languageCodes: [], processes: 0, ready: 0, sessions: 0 };
  const broken = refused.map(({ name, reason }): NodeModelStatus => {
    return { ...none, name, state: reason, streamsMax: 0 };
  });
  return [...served, ...broken];
}
