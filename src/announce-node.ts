import { hostname } from "node:os";
import type { Meter } from "./auth/meter.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database/database.ts";
import type { NodeModelStatus, NodeState, NodeStatus } from "./database/node-status.ts";
import type { EnginePool, EnginePoolState } from "./engines/pool/engine-pool.ts";
import type { JobWorker } from "./jobs/worker/worker.ts";
import { openNodePulse } from "./nodes/node-pulse.ts";
import { loadingModels } from "./readiness.ts";
import type { Server } from "./server/server.ts";
import { newId } from "./std/ids.ts";
import type { Log } from "./std/log.ts";
import { packageVersion } from "./std/version.ts";

/** The parts of a node that it reports on. */
interface AnnouncedParts {
  readonly database: Pick<Database, "db">;
  readonly recognizer: Pick<EnginePool, "state">;
  readonly server: Pick<Server, "address" | "state">;
  readonly meter: Pick<Meter, "openStreams">;
  readonly workers: readonly Pick<JobWorker, "running">[];
  readonly log: Log;
}

/** Reports this node to the operators until the parts are disposed of. */
export function announceNode(
  { role }: Pick<Config, "role">,
  stack: AsyncDisposableStack,
  parts: AnnouncedParts,
): void {
  const { database, log } = parts;
  const status = () => statusOf(role, parts);
  stack.use(openNodePulse({ db: database.db, id: newId(), status, log }));
}

async function statusOf(
  role: Config["role"],
  { recognizer, server, meter, workers }: AnnouncedParts,
): Promise<NodeStatus> {
  const pool = recognizer.state();
  return {
    host: hostname(),
    address: server.address,
    role,
    version: packageVersion(),
    state: await stateOf(server, pool),
    openStreams: meter.openStreams,
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

/** Returns the models that serve or are being loaded, and those that could not be loaded. */
function modelsOf({ models, refused }: EnginePoolState): NodeModelStatus[] {
  const served = models.map(({ loading: _loading, ...model }): NodeModelStatus => {
    return { ...model, state: model.ready > 0 ? "SERVING" : "LOADING" };
  });
  const none = { version: "", languageCodes: [], processes: 0, ready: 0, sessions: 0 };
  const broken = refused.map(({ name, reason }): NodeModelStatus => {
    return { ...none, name, state: reason, streamsMax: 0 };
  });
  return [...served, ...broken];
}
