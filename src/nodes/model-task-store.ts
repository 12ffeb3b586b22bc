import { sql, type Kysely, type Selectable } from "kysely";
import type { ModelTaskTable, ModelTestFigures } from "../database/job-tables.ts";
import type { Tables } from "../database/tables.ts";

/** A task as it is stored. */
export type StoredModelTask = Selectable<ModelTaskTable>;

/** A task that a node is doing. */
export type LeasedModelTask = Pick<StoredModelTask, "id" | "lease" | "kind" | "model">;

/** The progress of a task. */
export interface ModelTaskProgress {
  readonly phase: string;
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

/** The time after which another node with the models folder continues the task of a dead node. */
const leaseSeconds = 15;
/** The number of times that a task is begun. */
const attemptsMax = 3;

/**
 * Leases the oldest task of a models folder, unless a node is doing another one there. A task that
 * has been begun too often, because its nodes died, fails.
 */
export async function leaseModelTask(
  db: Kysely<Tables>,
  folderId: string,
): Promise<LeasedModelTask | undefined> {
  await sql`
    update model_task set state = 'FAILED', ended_at = now(),
      failure = ${`the node died ${attemptsMax} times while it did this`}
    where folder_id = ${folderId} and state = 'RUNNING' and leased_until < now()
      and attempts >= ${attemptsMax}`.execute(db);
  const { rows } = await sql<LeasedModelTask>`
    update model_task set state = 'RUNNING', lease = lease + 1, attempts = attempts + 1,
      leased_until = now() + make_interval(secs => ${leaseSeconds})
    where id = (
      select id from model_task
      where folder_id = ${folderId}
        and (state = 'WAITING' or state = 'RUNNING' and leased_until < now())
        and not exists (select from model_task other where other.folder_id = ${folderId}
          and other.state = 'RUNNING' and other.leased_until >= now())
      order by created_at, id limit 1 for update skip locked)
    returning id, lease, kind, model`.execute(db);
  return rows[0];
}

/** Stores progress, and extends the lease. Returns what the node has to do. */
export async function reportModelTask(
  db: Kysely<Tables>,
  { id, lease }: LeasedModelTask,
  { phase, receivedBytes, totalBytes }: ModelTaskProgress,
): Promise<"continue" | "cancel" | "lost"> {
  const row = await db
    .updateTable("model_task")
    .set({
      phase,
      received_bytes: receivedBytes,
      total_bytes: totalBytes,
      leased_until: sql<Date>`now() + make_interval(secs => ${leaseSeconds})`,
    })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .where("state", "=", "RUNNING")
    .returning("is_cancelled")
    .executeTakeFirst();
  if (!row) return "lost";
  return row.is_cancelled ? "cancel" : "continue";
}

/** Ends a task, unless its lease is lost. */
export async function endModelTask(
  db: Kysely<Tables>,
  { id, lease }: LeasedModelTask,
  end: {
    readonly state: "SUCCEEDED" | "FAILED" | "CANCELLED";
    readonly failure?: string;
    readonly result?: ModelTestFigures | undefined;
  },
): Promise<void> {
  const { state, failure = "", result } = end;
  await db
    .updateTable("model_task")
    .set({ state, failure, ended_at: sql<Date>`now()` })
    .set({ result: result ? JSON.stringify(result) : null })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .where("state", "=", "RUNNING")
    .execute();
}

/** Returns a task of a node that stops to those that wait. This attempt does not count. */
export async function releaseModelTask(
  db: Kysely<Tables>,
  { id, lease }: LeasedModelTask,
): Promise<void> {
  await db
    .updateTable("model_task")
    .set({ state: "WAITING", attempts: sql<number>`greatest(attempts - 1, 0)` })
    .where("id", "=", id)
    .where("lease", "=", lease)
    .where("state", "=", "RUNNING")
    .execute();
}
