import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { hasListed } from "./bin-store.ts";

/** The time after which a client that has not reported again does not count any more. */
export const presenceSeconds = 45;
const expiry = sql<Date>`now() + ${presenceSeconds} * interval '1 second'`;
/** The advisory lock of a transcript's participants, together with a hash of its id. */
const presenceLock = 4_750_414;

/** A client that has a transcript open. */
export interface PresentClient {
  readonly accountId: string;
  readonly transcriptId: string;
  readonly actor: string;
  /** The name that the client has chosen for itself. */
  readonly session: string;
}

export interface Presence {
  readonly isEditing: boolean;
  /** The position in the media in nanoseconds. */
  readonly position: number | null;
}

/** Updates a client that is present. Returns false if it is not. */
export async function renewPresence(
  db: Kysely<Tables>,
  client: PresentClient,
  { isEditing, position }: Presence,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("transcript_participant")
    .set({ is_editing: isEditing, position_ns: position, updated_at: sql<Date>`now()` })
    .set({ expires_at: expiry })
    .where(isClient(client))
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Adds a client, and forgets those of the transcript that have expired. Clients are added one after
 * the other, so that their number is exact. A client that edits takes the place of the one that has
 * not reported for the longest time of those that only read.
 */
export async function addPresence(
  trx: Transaction<Tables>,
  client: PresentClient,
  { isEditing, position, clientsMax }: Presence & { readonly clientsMax: number },
): Promise<"added" | "full" | "no transcript"> {
  const { accountId, transcriptId, actor, session } = client;
  await sql`select pg_advisory_xact_lock(${presenceLock}, hashtext(${transcriptId}))`.execute(trx);
  const transcript = await trx
    .selectFrom("transcript")
    .where("account_id", "=", accountId)
    .where("id", "=", transcriptId)
    .select("id")
    .forKeyShare()
    .executeTakeFirst();
  if (!transcript) return "no transcript";
  await trx
    .deleteFrom("transcript_participant")
    .where("transcript_id", "=", transcriptId)
    .where("expires_at", "<=", sql<Date>`now()`)
    .execute();
  const { count } = await trx
    .selectFrom("transcript_participant")
    .where("transcript_id", "=", transcriptId)
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  const isFull = Number(count) >= clientsMax;
  if (isFull && !(isEditing && (await removeReader(trx, transcriptId)))) return "full";
  const state = { is_editing: isEditing, position_ns: position, expires_at: expiry };
  await trx
    .insertInto("transcript_participant")
    .values({ ...state, transcript_id: transcriptId, account_id: accountId, actor, session })
    .onConflict((conflict) =>
      conflict
        .columns(["transcript_id", "actor", "session"])
        .doUpdateSet({ ...state, updated_at: sql<Date>`now()` }),
    )
    .execute();
  return "added";
}

/** Removes a client that only reads. Returns false if there is none. */
async function removeReader(trx: Transaction<Tables>, transcriptId: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("transcript_participant as p")
    .where("p.transcript_id", "=", transcriptId)
    .where(
      sql<boolean>`(p.actor, p.session) = (
        select actor, session from transcript_participant
        where transcript_id = ${transcriptId} and not is_editing
        order by updated_at limit 1
      )`,
    )
    // It may have begun to edit in this moment.
    .where("p.is_editing", "=", false)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Removes a client, if it is present. */
export async function removePresence(db: Kysely<Tables>, client: PresentClient): Promise<void> {
  await db.deleteFrom("transcript_participant").where(isClient(client)).execute();
}

/** Deletes the clients that have expired of all transcripts. */
export async function sweepPresence(db: Kysely<Tables>): Promise<void> {
  await db
    .deleteFrom("transcript_participant")
    .where("expires_at", "<=", sql<Date>`now()`)
    .execute();
}

function isClient({ accountId, transcriptId, actor, session }: PresentClient) {
  return sql<boolean>`(transcript_id = ${transcriptId} and actor = ${actor}
    and session = ${session} and account_id = ${accountId}
    and ${hasListed(accountId, transcriptId)})`;
}
