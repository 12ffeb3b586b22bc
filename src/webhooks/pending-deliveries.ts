import { sql, type Kysely } from "kysely";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";

/** The messages of the whole service that are to be sent. */
export interface PendingDeliveries {
  readonly count: number;
  /** The age of the oldest of them. */
  readonly oldestSeconds: number;
}

/**
 * Counts the messages that are to be sent, for the metrics of a node. Those of disabled webhooks do
 * not count: they are kept, but not sent.
 */
export async function countPendingDeliveries(db: Kysely<Tables>): Promise<PendingDeliveries> {
  const { rows } = await sql<{ count: number; oldest: number }>`
    select count(*)::int as count,
      coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest
    from webhook_delivery
    where ${openIn.webhook_delivery}
      and webhook_id in (select id from webhook where disabled_at is null)
  `.execute(db);
  const [row] = rows;
  return { count: row?.count ?? 0, oldestSeconds: Math.max(0, row?.oldest ?? 0) };
}
