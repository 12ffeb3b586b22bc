import { sql, type Kysely, type Transaction, type UpdateObject } from "kysely";
import { isHeld, later, releaseLease, waitedMs, type Lease } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { retryDelayMs } from "../std/retry-delay.ts";
import type { Refusal } from "./send-delivery.ts";

/**
 * A worker's lease on a message for one attempt, with everything needed to deliver the message.
 */
export interface LeasedDelivery extends Lease {
  readonly webhookId: string;
  readonly url: string;
  readonly body: string;
  /** The secrets that sign; the current secret comes first. */
  readonly secrets: readonly Buffer[];
  /** The number of attempts since the message was created or redelivered, including this one. */
  readonly attempts: number;
  /** The time of the lease, by the clock of the database. */
  readonly at: Date;
  /** How long it was due before it was leased. */
  readonly waitedMs: number;
  /** The time from the lease until the message is given up. */
  readonly leftMs: number;
  /** The place in a trace that caused the message; null for none. */
  readonly traceparent: string | null;
}

export interface LeaseOptions {
  readonly leaseMs: number;
  /** The maximum number of deliveries to lease. */
  readonly room: number;
  /**
   * The maximum number of concurrent deliveries to one webhook on this worker; 1 while its attempts
   * fail.
   */
  readonly ofWebhookMax: number;
  /** The numbers of deliveries that the worker is sending, by webhook. */
  readonly sending: ReadonlyMap<string, number>;
}

/**
 * A webhook whose attempts have failed for this long is disabled when one of its messages is given
 * up.
 */
const failingDaysMax = 3;
/** How long deliveries are listed. */
export const deliveryDays = 30;
const sweptAtOnce = 1_000;

/**
 * Leases deliveries that are due, beginning with webhooks that have the fewest in progress. While
 * there is room, a webhook is delayed neither by the many messages of another webhook nor by the
 * slowness of one. The statement visits webhooks that have something to send, not messages, so a
 * hundred thousand messages that wait for a dead receiver cost nothing.
 */
export async function leaseDeliveries(
  db: Kysely<Tables>,
  { leaseMs, room, ofWebhookMax, sending }: LeaseOptions,
): Promise<LeasedDelivery[]> {
  const { rows } = await sql<LeasedRow>`
    with recursive sending as (
      select * from unnest(${[...sending.keys()]}::uuid[], ${[...sending.values()]}::int[]) as t (id, count)
    ), waiting as (
      (select webhook_id from webhook_delivery where state = 'PENDING' order by webhook_id limit 1)
      union all
      select (select d.webhook_id from webhook_delivery d
        where d.state = 'PENDING' and d.webhook_id > waiting.webhook_id order by d.webhook_id limit 1)
      from waiting where waiting.webhook_id is not null
    ), open as (
      select w.id, coalesce(sending.count, 0) as count,
        case when w.failing_since is null then ${ofWebhookMax}::int else 1 end as most
      from waiting join webhook w on w.id = waiting.webhook_id left join sending on sending.id = w.id
      where w.disabled_at is null
    ), next as (
      select ready.id, ready.due_at from open cross join lateral (
        select d.id, d.due_at, row_number() over (order by d.due_at) as turn from (
          select id, due_at from webhook_delivery
          where webhook_id = open.id and state = 'PENDING' and due_at <= now()
          order by due_at limit greatest(open.most - open.count, 0)
          for update skip locked) d) ready
      order by open.count + ready.turn, ready.due_at limit ${room}::int
    )
    update webhook_delivery d
    set lease = d.lease + 1, tries = d.tries + 1, attempts = d.attempts + 1,
      last_attempt_at = now(), due_at = ${later(leaseMs)}
    from webhook w, next
    where d.id = next.id and w.id = d.webhook_id
    returning d.id, d.webhook_id, d.lease, w.url, d.body, w.secret, d.tries, now() as at,
      d.traceparent, ${waitedMs} as waited_ms,
      case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
      extract(epoch from d.give_up_at - now())::float8 * 1000 as left_ms
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    webhookId: row.webhook_id,
    number: row.lease,
    url: row.url,
    body: row.body,
    secrets: row.previous_secret ? [row.secret, row.previous_secret] : [row.secret],
    attempts: row.tries,
    at: row.at,
    waitedMs: row.waited_ms,
    leftMs: row.left_ms,
    traceparent: row.traceparent,
  }));
}

interface LeasedRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly lease: number;
  readonly url: string;
  readonly body: string;
  readonly secret: Buffer;
  readonly previous_secret: Buffer | null;
  readonly tries: number;
  readonly at: Date;
  readonly waited_ms: number;
  readonly left_ms: number;
  readonly traceparent: string | null;
}

/** Records that the receiver accepted a message. Returns false if the lease is lost. */
export async function noteDelivered(
  db: Kysely<Tables>,
  delivery: LeasedDelivery,
  status: number,
): Promise<boolean> {
  const isNoted = await noting(db, delivery, async (trx, { isFailing }) => {
    const isOurs = await setState(trx, delivery, {
      state: "DELIVERED",
      last_http_status: status,
      last_problem: null,
    });
    if (isOurs && isFailing) {
      await trx
        .updateTable("webhook")
        .set({ failing_since: null })
        .where("id", "=", delivery.webhookId)
        .execute();
    }
    return isOurs;
  });
  return isNoted ?? false;
}

/** The result of recording a failed attempt. */
export interface NotedRefusal {
  /** Whether the message is not sent again unless it is redelivered. */
  readonly isGivenUp: boolean;
  /** The reason why the webhook was disabled, if it was. */
  readonly disabledReason: string | undefined;
}

/**
 * Records a failed attempt: the message waits for the next attempt, or its day is over. A receiver
 * that is gone (410), or that has accepted nothing for days, causes its webhook to be disabled.
 * `elapsedMs` is the time since the lease. Returns undefined if the lease is lost.
 */
export async function noteRefused(
  db: Kysely<Tables>,
  delivery: LeasedDelivery,
  { status, problem, retryAfterMs }: Refusal,
  { elapsedMs, chance }: { readonly elapsedMs: number; readonly chance: number },
): Promise<NotedRefusal | undefined> {
  const isGone = status === 410;
  const leftMs = delivery.leftMs - elapsedMs;
  const delayMs = isGone
    ? undefined
    : retryDelayMs({ attempts: delivery.attempts, leftMs, retryAfterMs, chance });
  return await noting(db, delivery, async (trx, { isOfUrl, isFailing }) => {
    const isOurs = await setState(trx, delivery, {
      last_http_status: status ?? null,
      last_problem: problem,
      ...(delayMs === undefined ? { state: "FAILED" } : { due_at: later(delayMs) }),
    });
    if (!isOurs) return undefined;
    const isGivenUp = delayMs === undefined;
    if (isOfUrl && !isFailing) await noteFailing(trx, delivery);
    const disabledReason =
      isOfUrl && isGivenUp ? await disable(trx, delivery, { isGone, problem }) : undefined;
    return { isGivenUp, disabledReason };
  });
}

/** Releases a delivery so that any worker may lease it immediately. The attempt does not count. */
export async function releaseDelivery(db: Kysely<Tables>, lease: Lease): Promise<void> {
  const uncounted = { afterMs: 0, isForgiven: true, set: sql`, attempts = attempts - 1` };
  await releaseLease(db, "webhook_delivery", lease, uncounted);
}

/**
 * Makes messages due that are waiting only because the clock of the database was set back. Either
 * their last attempt is in the future, or they wait for the first attempt, before which there is no
 * delay.
 */
export async function repairDueTimes(db: Kysely<Tables>): Promise<void> {
  await sql`
    update webhook_delivery set due_at = now()
    where id in (
      select id from webhook_delivery
      where state = 'PENDING' and due_at > now()
        and (tries = 0 or last_attempt_at > now() + interval '1 minute')
      for update skip locked)
  `.execute(db);
}

/**
 * Ends messages whose day was over while their webhook was disabled, and deletes messages that are
 * too old to be listed.
 */
export async function sweepDeliveries(db: Kysely<Tables>, signal: AbortSignal): Promise<void> {
  await sql`
    update webhook_delivery set state = 'FAILED', last_problem = 'the webhook was disabled until its day was over'
    where id in (
      select id from webhook_delivery
      where state = 'PENDING' and give_up_at < now()
        and webhook_id in (select id from webhook where disabled_at is not null)
      for update skip locked)
  `.execute(db);
  for (;;) {
    signal.throwIfAborted();
    const { numAffectedRows } = await sql`
      delete from webhook_delivery where id in (
        select id from webhook_delivery
        where state <> 'PENDING' and created_at < now() - ${deliveryDays} * interval '1 day'
        limit ${sweptAtOnce} for update skip locked)
    `.execute(db);
    if ((numAffectedRows ?? 0n) < sweptAtOnce) return;
  }
}

/**
 * Locks the webhook first, since deleting the webhook takes locks in this order. Nothing is
 * recorded for a deleted webhook.
 */
async function noting<T>(
  db: Kysely<Tables>,
  { webhookId, url }: LeasedDelivery,
  note: (
    trx: Transaction<Tables>,
    webhook: { readonly isFailing: boolean; readonly isOfUrl: boolean },
  ) => Promise<T>,
): Promise<T | undefined> {
  return await db.transaction().execute(async (trx) => {
    const webhook = await trx
      .selectFrom("webhook")
      .where("id", "=", webhookId)
      .select(["url", "failing_since"])
      .forKeyShare()
      .executeTakeFirst();
    if (!webhook) return undefined;
    return await note(trx, {
      isFailing: webhook.failing_since !== null,
      isOfUrl: webhook.url === url,
    });
  });
}

/** Returns false if the lease is lost. */
async function setState(
  trx: Transaction<Tables>,
  lease: Lease,
  state: UpdateObject<Tables, "webhook_delivery">,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("webhook_delivery")
    .set(state)
    .where(isHeld("webhook_delivery", lease))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

async function noteFailing(trx: Transaction<Tables>, { webhookId }: LeasedDelivery): Promise<void> {
  await trx
    .updateTable("webhook")
    .set({ failing_since: sql<Date>`coalesce(failing_since, now())` })
    .where("id", "=", webhookId)
    .execute();
}

/**
 * Disables the webhook of a receiver that is gone, or that has accepted nothing for days. Returns
 * the reason if the webhook was disabled.
 */
async function disable(
  trx: Transaction<Tables>,
  { webhookId }: LeasedDelivery,
  { isGone, problem }: { readonly isGone: boolean; readonly problem: string },
): Promise<string | undefined> {
  const reason = isGone
    ? problem
    : `nothing was accepted for ${failingDaysMax} days; the last time ${problem}`;
  const row = await trx
    .updateTable("webhook")
    .set({ disabled_at: sql<Date>`now()`, disabled_reason: reason })
    .where("id", "=", webhookId)
    .where("disabled_at", "is", null)
    .where(
      sql<boolean>`(${isGone}::boolean or failing_since <= now() - ${failingDaysMax} * interval '1 day')`,
    )
    .returning("id")
    .executeTakeFirst();
  return row && reason;
}
