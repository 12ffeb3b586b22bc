import { sql, type Kysely, type Selectable, type Transaction, type UpdateObject } from "kysely";
import type { Tables, WebhookTable } from "../database/tables.ts";

export type StoredWebhook = Omit<Selectable<WebhookTable>, "secret" | "previous_secret">;

/** All columns except the secrets, which only the signing statement reads. */
const shownColumns = [
  "id",
  "account_id",
  "url",
  "display_name",
  "event_types",
  "previous_secret_until",
  "disabled_at",
  "disabled_reason",
  "failing_since",
  "created_at",
] as const satisfies readonly (keyof StoredWebhook)[];

/**
 * The maximum number of webhooks of an account. A list contains all of them, and each job that ends
 * sends a message to each.
 */
export const webhooksMax = 20;
/** How long the previous secret also signs after a rotation. */
const previousSecretHours = 24;

export interface NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly displayName: string;
  readonly eventTypes: readonly string[];
  readonly secret: Buffer;
}

/** Inserts a webhook; returns undefined if the account already has the maximum number. */
export async function insertWebhook(
  trx: Transaction<Tables>,
  webhook: NewWebhook,
): Promise<StoredWebhook | undefined> {
  const { accountId } = webhook;
  // Only one insert at a time is possible for each account, so that the limit is enforced.
  await trx
    .selectFrom("account")
    .where("id", "=", accountId)
    .select("id")
    .forNoKeyUpdate()
    .execute();
  const { count } = await trx
    .selectFrom("webhook")
    .where("account_id", "=", accountId)
    .select((row) => row.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= webhooksMax) return undefined;
  return await trx
    .insertInto("webhook")
    .values({
      id: webhook.id,
      account_id: accountId,
      url: webhook.url,
      display_name: webhook.displayName,
      event_types: [...webhook.eventTypes],
      secret: webhook.secret,
    })
    .returning(shownColumns)
    .executeTakeFirstOrThrow();
}

/** Returns all webhooks of an account, newest first. */
export async function listWebhooks(
  db: Kysely<Tables>,
  accountId: string,
): Promise<StoredWebhook[]> {
  return await db
    .selectFrom("webhook")
    .where("account_id", "=", accountId)
    .select(shownColumns)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** Finds a webhook; returns undefined if the account has no such webhook. */
export async function findWebhook(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<StoredWebhook | undefined> {
  return await db
    .selectFrom("webhook")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .select(shownColumns)
    .executeTakeFirst();
}

/** Changes to a webhook; fields that are undefined stay unchanged. */
export interface WebhookChange {
  url?: string;
  displayName?: string;
  eventTypes?: readonly string[];
  disabled?: boolean;
}

/** Changes a webhook; returns undefined if the account has no such webhook. */
export async function changeWebhook(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  { url, displayName, eventTypes, disabled }: WebhookChange,
): Promise<StoredWebhook | undefined> {
  return await update(db, accountId, id, {
    // Failures of the previous URL do not count.
    ...(url !== undefined && { url, failing_since: null }),
    ...(displayName !== undefined && { display_name: displayName }),
    ...(eventTypes !== undefined && { event_types: [...eventTypes] }),
    ...(disabled === true && { disabled_at: sql<Date>`coalesce(disabled_at, now())` }),
    ...(disabled === false && { disabled_at: null, disabled_reason: null, failing_since: null }),
  });
}

/**
 * Replaces the secret; the previous secret also signs for a while. Returns undefined if there is no
 * such webhook.
 */
export async function rotateSecret(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  secret: Buffer,
): Promise<StoredWebhook | undefined> {
  return await update(db, accountId, id, {
    secret,
    previous_secret: sql<Buffer>`secret`,
    previous_secret_until: sql<Date>`now() + ${previousSecretHours} * interval '1 hour'`,
  });
}

/** Deletes a webhook; returns false if the account has no such webhook. */
export async function deleteWebhook(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("webhook")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

async function update(
  db: Kysely<Tables>,
  accountId: string,
  id: string,
  changes: UpdateObject<Tables, "webhook">,
): Promise<StoredWebhook | undefined> {
  return await db
    .updateTable("webhook")
    .set(changes)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .returning(shownColumns)
    .executeTakeFirst();
}
