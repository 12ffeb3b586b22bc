import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import type { NodeModelStatus } from "../database/node-status.ts";
import type { Tables } from "../database/tables.ts";
import {
  ModelState,
  NodeModelSchema,
  NodeSchema,
  NodeState,
  type Node,
  type NodeModel,
  type Operator,
} from "../gen/hlust/operator/v1/operator_pb.ts";
import { listNodes, type StoredNode } from "../nodes/node-store.ts";
import { timestampFromDate } from "../std/duration.ts";

/** Creates the RPC that lists the nodes. */
export function nodeMethods({ db }: { readonly db: Kysely<Tables> }) {
  return {
    async listNodes() {
      return { nodes: (await listNodes(db)).map(nodeMessage) };
    },
  } satisfies Partial<ServiceImpl<typeof Operator>>;
}

function nodeMessage({ id, startedAt, seenAt, status }: StoredNode): Node {
  const { host, address, role, version, state, openStreams, runningJobs, load, models } = status;
  const { modelsFolder, installedModels } = status;
  return create(NodeSchema, {
    name: `nodes/${id}`,
    host,
    address,
    role,
    version,
    state: NodeState[state],
    startTime: timestampFromDate(startedAt),
    heartbeatTime: timestampFromDate(seenAt),
    openStreams,
    runningJobs,
    load,
    models: models.map(modelMessage),
    modelsFolder,
    installedModels: installedModels.map(({ name, version: installed, bytes, isBuiltin }) => {
      return { name, version: installed, bytes: BigInt(bytes), builtin: isBuiltin };
    }),
  });
}

function modelMessage({ ready, state, languageCodes, ...model }: NodeModelStatus): NodeModel {
  return create(NodeModelSchema, {
    ...model,
    languageCodes: [...languageCodes],
    state: ModelState[state],
    readyProcesses: ready,
  });
}
