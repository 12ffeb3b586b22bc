import { sql, type Kysely, type RawBuilder, type Selectable, type Transaction } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { Tables, WebhookDeliveryTable } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import { currentTraceparent } from "../tracing/tracing.ts";
import { bodyOf, testEventType, type WebhookEvent } from "./webhook-events.ts";

export type StoredDelivery = Omit<
  Selectable<WebhookDeliveryTable>,
  "body" | "tries" | "lease" | "traceparent"
>;

/** All columns except those that only the worker needs. */
const shownColumns = [
  "id",
  "webhook_id",
  "event_type",
  "job_id",
  "state",
  "attempts",
  "due_at",
  "give_up_at",
  "last_attempt_at",
  "last_http_status",
  "last_problem",
  "created_at",
] as const satisfies readonly (keyof StoredDelivery)[];

/** The maximum number of tests per webhook that wait to be delivered. */
export const testsMax = 10;

/**
 * Whether an account has an enabled webhook. The condition is for use within another statement, so
 * that accounts without a webhook cause no cost.
 */
export function isListening(accountId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select from webhook where webhook.account_id = ${accountId} and disabled_at is null)`;
}

/**
 * Notifies an account's webhooks of an event of this transaction. If the transaction commits, every
 * webhook that subscribes to the event is notified once.
 */
export async function insertDeliveries(
  trx: Transaction<Tables>,
  accountId: string,
  jobId: string,
  event: WebhookEvent,
): Promise<void> {
  const webhooks = await trx
    .selectFrom("webhook")
    .where("account_id", "=", accountId)
    .where("disabled_at", "is", null)
    .where(sql<boolean>`(event_types = '{}' or ${event.type}::text = any (event_types))`)
    .select("id")
    // A webhook that is deleted concurrently must not make the transaction fail.
    .forKeyShare()
    .execute();
  if (webhooks.length === 0) return;
  const body = bodyOf(event);
  const rows = webhooks.map(({ id }) => ({
    id: newId(),
    webhook_id: id,
    event_type: event.type,
    job_id: jobId,
    body,
    // The worker that ends the job may end several in one transaction.
    traceparent: trx.selectFrom("transcript_job").select("traceparent").where("id", "=", jobId),
  }));
  await trx.insertInto("webhook_delivery").values(rows).execute();
}

/**
 * Sends a test to a webhook; returns undefined if the maximum number of tests is already waiting.
 */
export async function insertTest(
  db: Kysely<Tables>,
  webhookId: string,
  at: Date,
): Promise<StoredDelivery | undefined> {
  const data = { webhook: `webhooks/${webhookId}` };
  const body = bodyOf({ type: testEventType, at, data });
  const { rows } = await sql<StoredDelivery>`
    insert into webhook_delivery (id, webhook_id, event_type, body, traceparent)
    select ${newId()}::uuid, id, ${testEventType}::text, ${body}::text,
      ${currentTraceparent() ?? null}::text
    from webhook
    where id = ${webhookId} and ${testsMax} > (
      select count(*) from webhook_delivery
      where webhook_id = ${webhookId} and event_type = ${testEventType} and state = 'PENDING')
    returning ${sql.join(shownColumns.map((column) => sql.ref(column)))}
  `.execute(db);
  return rows[0];
}

/** Returns one page of the deliveries of a webhook, newest first. */
export async function listDeliveries(
  db: Kysely<Tables>,
  webhookId: string,
  page: PageRequest,
): Promise<{ deliveries: StoredDelivery[]; next: ListPosition | undefined }> {
  let query = db
    .selectFrom("webhook_delivery")
    .where("webhook_id", "=", webhookId)
    .select([...shownColumns, exactTime("created_at").as("position")])
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(page.size + 1);
  if (page.after) {
    const [time, id] = page.after;
    query = query.where(sql<boolean>`(created_at, id) < (${time}::timestamptz, ${id}::uuid)`);
  }
  const rows = await query.execute();
  const deliveries = rows.slice(0, page.size);
  const last = deliveries.at(-1);
  return {
    deliveries,
    next: last && rows.length > page.size ? [last.position, last.id] : undefined,
  };
}

/**
 * Sends a delivery again immediately, and for another day; an attempt in progress no longer counts.
 * Returns undefined if the webhook has no such delivery.
 */
export async function redeliver(
  db: Kysely<Tables>,
  webhookId: string,
  id: string,
): Promise<StoredDelivery | undefined> {
  return await db
    .updateTable("webhook_delivery")
    .set({
      state: "PENDING",
      tries: 0,
      lease: sql<number>`lease + 1`,
      due_at: sql<Date>`now()`,
      give_up_at: sql<Date>`now() + interval '24 hours'`,
    })
    .where("id", "=", id)
    .where("webhook_id", "=", webhookId)
    .returning(shownColumns)
    .executeTakeFirst();
}
