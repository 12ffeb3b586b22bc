import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type Transaction } from "kysely";
import { audited, type Act } from "../auth/audit-log.ts";
import { callerOf } from "../auth/caller.ts";
import { exactTime } from "../database/exact-time.ts";
import type { Tables } from "../database/tables.ts";
import {
  CatalogueModelSchema,
  ModelTaskKind,
  type CatalogueModel,
  type CreateModelTaskRequest,
  type Operator,
} from "../gen/hlust/operator/v1/operator_pb.ts";
import { readCatalogue, type CatalogueEntry } from "../models/catalogue.ts";
import { isModelName } from "../models/models-folder.ts";
import type { StoredModelTask } from "../nodes/model-task-store.ts";
import { listNodes, type StoredNode } from "../nodes/node-store.ts";
import { idIn, newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { readPageRequest, type PageRequest } from "../std/page-request.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError, shown, Violations } from "../std/service-error.ts";
import { modelTaskMessage } from "./model-task-message.ts";

/** The maximum number of tasks that have not ended. */
const openTasksMax = 100;
/** How long a task is listed after its end. */
export const modelTaskDays = 30;

/** Creates the RPCs with which operators pull, remove and test models. */
export function modelMethods(parts: {
  readonly db: Kysely<Tables>;
  readonly pageTokens: PageTokens;
  /** The catalogue of this node. */
  readonly catalogueFile: string;
  readonly log: Log;
}) {
  const { db, pageTokens, catalogueFile } = parts;
  return {
    async listCatalogueModels() {
      return { models: (await readCatalogue(catalogueFile)).map(catalogueMessage) };
    },

    async createModelTask(request, context) {
      const { kind, model } = checkRequest(request);
      const { id: nodeId, status } = await findNode(db, request.node);
      if (kind !== "PULL" && !status.installedModels.some(({ name }) => name === model)) {
        throw new ServiceError("not_found", `the node has no model ${shown(model)}`);
      }
      const entries = kind === "PULL" ? await readCatalogue(catalogueFile) : [];
      if (kind === "PULL" && !entries.some(({ card }) => card.name === model)) {
        throw new ServiceError("not_found", `the catalogue has no model ${shown(model)}`);
      }
      const { modelsFolder, host } = status;
      if (modelsFolder === "") throw readOnlyFolder();
      const row = await audited(parts, callerOf(context), async (trx, record) => {
        await makeRoom(trx);
        const values = { id: newId(), folder_id: modelsFolder, host, kind, model };
        const made = trx.insertInto("model_task").values(values).returningAll();
        const resource = `modelTasks/${values.id}`;
        const details = { kind, model, node: `nodes/${nodeId}`, host };
        await record({ action: "model_task.create", resource, details });
        return await made.executeTakeFirstOrThrow();
      });
      return modelTaskMessage(row);
    },

    async listModelTasks(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "modelTasks", accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const rows = await readTasks(db, page);
      const listed = rows.slice(0, page.size);
      const last = rows.length > page.size ? listed.at(-1) : undefined;
      return {
        modelTasks: listed.map(modelTaskMessage),
        nextPageToken: last ? pageTokens.write(scope, [last.position, last.id]) : "",
      };
    },

    async cancelModelTask({ name }, context) {
      const row = await audited(parts, callerOf(context), (trx, record) =>
        cancelTask(trx, name, record),
      );
      return modelTaskMessage(row);
    },
  } satisfies Partial<ServiceImpl<typeof Operator>>;
}

/** Reads a page of tasks and one more, newest first. */
async function readTasks(db: Kysely<Tables>, { after, size }: PageRequest) {
  return await db
    .selectFrom("model_task")
    .selectAll()
    .select(exactTime("created_at").as("position"))
    .$if(after !== undefined, (query) => {
      const [time, id] = after ?? [];
      return query.where(sql<boolean>`(created_at, id) < (${time}::timestamptz, ${id}::uuid)`);
    })
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(size + 1)
    .execute();
}

/** Cancels a task. Returns it as it is then. */
async function cancelTask(
  trx: Transaction<Tables>,
  name: string,
  record: (act: Act) => Promise<void>,
): Promise<StoredModelTask> {
  const id = idIn("modelTasks", name);
  const tasks = trx
    .selectFrom("model_task")
    .selectAll()
    .where("id", "=", id ?? null);
  const found = await tasks.forUpdate().executeTakeFirst();
  if (!found) throw new ServiceError("not_found", `there is no ${shown(name)}`);
  if (found.state !== "WAITING" && found.state !== "RUNNING") return found;
  if (!found.is_cancelled) await record({ action: "model_task.cancel", resource: name });
  // The node of a running task ends it; one that has died never does.
  const isIdle = found.state === "WAITING" || found.leased_until.getTime() < Date.now();
  const over = { state: "CANCELLED", ended_at: sql<Date>`now()`, lease: found.lease + 1 } as const;
  return await trx
    .updateTable("model_task")
    .set({ is_cancelled: true, ...(isIdle && over) })
    .where("id", "=", found.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

const kinds = ["PULL", "REMOVE", "TEST"] as const;

/** Throws all violations of a request. */
function checkRequest({ kind, model }: CreateModelTaskRequest): {
  readonly kind: (typeof kinds)[number];
  readonly model: string;
} {
  const violations = new Violations();
  const known = kinds.find((each) => ModelTaskKind[each] === kind);
  if (!known) violations.add("kind", `is required: one of ${kinds.join(", ")}`);
  if (model === "") violations.add("model", "is required");
  else if (!isModelName(model)) violations.add("model", `${shown(model)} is not a name of a model`);
  violations.throwIfAny();
  return { kind: known ?? "TEST", model };
}

async function findNode(db: Kysely<Tables>, name: string): Promise<StoredNode> {
  const id = idIn("nodes", name);
  const found = id === undefined ? undefined : (await listNodes(db)).find((node) => node.id === id);
  if (!found) throw new ServiceError("not_found", `no node ${shown(name)} runs now`);
  return found;
}

/** Deletes tasks that ended long ago. Throws if too many have not ended. */
async function makeRoom(db: Kysely<Tables>): Promise<void> {
  await sql`delete from model_task where ended_at < now() - make_interval(days => ${modelTaskDays})`.execute(
    db,
  );
  const { count } = await db
    .selectFrom("model_task")
    .where("ended_at", "is", null)
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) < openTasksMax) return;
  const problem = `${openTasksMax} tasks have not ended, which is the limit: cancel one first`;
  throw new ServiceError("resource_exhausted", problem, { reason: "TOO_MANY_MODEL_TASKS" });
}

function catalogueMessage({ card, downloads }: CatalogueEntry): CatalogueModel {
  const { name, version, languageCodes, licence } = card;
  const isKnown = downloads.every(({ bytes }) => bytes !== undefined);
  const total = isKnown ? downloads.reduce((sum, { bytes = 0 }) => sum + bytes, 0) : 0;
  const texts = { name, version, languageCodes: [...languageCodes], licence };
  return create(CatalogueModelSchema, { ...texts, downloadBytes: BigInt(total) });
}

function readOnlyFolder(): ServiceError {
  const problem = "the node cannot write to its models folder (HLUST_MODELS)";
  return new ServiceError("failed_precondition", problem, { reason: "MODELS_FOLDER_READ_ONLY" });
}
