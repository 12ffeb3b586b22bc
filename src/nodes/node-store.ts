import { sql, type Kysely } from "kysely";
import type { NodeStatus } from "../database/node-status.ts";
import type { Tables } from "../database/tables.ts";

/** A node that runs now, with its last report. */
export interface StoredNode {
  readonly id: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  readonly status: NodeStatus;
}

/** The age of a report after which its node counts as dead. */
const silentSecondsMax = 20;
/** The age of a report after which any node deletes it. */
const deletedAfterSeconds = 60;

/** By the clock of the database, which all nodes share. */
const isAlive = sql<boolean>`seen_at > now() - make_interval(secs => ${silentSecondsMax})`;

/** Stores the report of a node, and deletes the rows of nodes that died. */
export async function reportNode(
  db: Kysely<Tables>,
  id: string,
  status: NodeStatus,
): Promise<void> {
  await sql`
    with dead as (
      delete from node where id in (
        select id from node
        where seen_at < now() - make_interval(secs => ${deletedAfterSeconds}) and id <> ${id}
        for update skip locked))
    insert into node (id, status) values (${id}, ${JSON.stringify(status)})
    on conflict (id) do update set seen_at = now(), status = excluded.status
  `.execute(db);
}

/** Deletes the report of a node that stops. */
export async function forgetNode(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom("node").where("id", "=", id).execute();
}

/** Lists the nodes that run now, oldest first. */
export async function listNodes(db: Kysely<Tables>): Promise<StoredNode[]> {
  const rows = await db
    .selectFrom("node")
    .selectAll()
    .where(isAlive)
    .orderBy("started_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    startedAt: row.started_at,
    seenAt: row.seen_at,
    status: row.status,
  }));
}
