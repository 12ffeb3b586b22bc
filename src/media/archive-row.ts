import { randomUUID } from "node:crypto";
import { type Kysely, sql, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";

/** The row of the archive in its database. */
export interface ArchiveRow {
  readonly id: string;
  readonly createdAt: Date;
  /** Whether the media store has been marked with the id. */
  readonly isMarked: boolean;
  /** The place that was last accepted. */
  readonly place: { readonly [Key in keyof ArchivePlace]: ArchivePlace[Key] | undefined };
  readonly quarantinedAt: Date | undefined;
  /**
   * Whether the row was copied into this database, for example by pg_restore. A row that was not
   * copied was written by the transaction with the id that the row stores.
   */
  readonly isCopy: boolean;
}

/** The place of an archive, described by values that change only if the archive is moved. */
export interface ArchivePlace {
  /** "disk", or the bucket and prefix. */
  readonly store: string;
  /** The inode of the folder of the service's own PostgreSQL; undefined if DATABASE_URL is set. */
  readonly folder: string | undefined;
}

/** A single number of the archive's pulse. */
export interface Pulse {
  readonly number: number;
  readonly nonce: string;
}

/** Returns the row of the archive; undefined if no service has named the archive yet. */
export async function findArchiveRow(db: Kysely<Tables>): Promise<ArchiveRow | undefined> {
  const row = await db
    .selectFrom("archive_identity")
    .select(["id", "created_at", "marked_at", "store", "folder", "quarantined_at"])
    .select(sql<boolean>`xmin::text <> written_by or written_in <> ${here}`.as("is_copy"))
    .executeTakeFirst();
  return (
    row && {
      id: row.id,
      createdAt: row.created_at,
      isMarked: row.marked_at !== null,
      place: { store: row.store ?? undefined, folder: row.folder ?? undefined },
      quarantinedAt: row.quarantined_at ?? undefined,
      isCopy: row.is_copy,
    }
  );
}

/**
 * Names the archive, unless another node has already done so, and locks the row until the
 * transaction ends.
 */
export async function holdArchiveRow(trx: Transaction<Tables>, id: string): Promise<ArchiveRow> {
  const written = { written_by: thisTransaction, written_in: here };
  await trx
    .insertInto("archive_identity")
    .values({ id, marked_at: null, store: null, folder: null, quarantined_at: null, ...written })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await trx.selectFrom("archive_identity").select("id").forUpdate().executeTakeFirstOrThrow();
  const row = await findArchiveRow(trx);
  if (!row) throw new Error("the row of the archive was deleted");
  return row;
}

/** Rewrites the row, so that it no longer counts as a copy. */
export async function writeArchiveRow(
  trx: Transaction<Tables>,
  change: {
    readonly id?: string;
    /** The place that is accepted from now on. If it is set, the store counts as marked. */
    readonly place?: ArchivePlace;
    readonly isQuarantined?: boolean;
  },
): Promise<void> {
  const { id, place, isQuarantined } = change;
  await trx
    .updateTable("archive_identity")
    .set({
      ...(id !== undefined && { id }),
      ...(place && { marked_at: sql<Date>`now()`, store: place.store }),
      ...(place && { folder: place.folder ?? null }),
      ...(isQuarantined !== undefined && {
        quarantined_at: isQuarantined ? sql<Date>`now()` : null,
      }),
      written_by: thisTransaction,
      written_in: here,
    })
    .execute();
}

/** Returns the pulse in the database; undefined if it has none yet. */
export async function readPulse(db: Kysely<Tables>): Promise<Pulse | undefined> {
  const row = await db.selectFrom("archive_pulse").select(["number", "nonce"]).executeTakeFirst();
  return row && { number: Number(row.number), nonce: row.nonce };
}

/** Returns whether a node has written the pulse within this time. */
export async function isBeating(db: Kysely<Tables>, withinMs: number): Promise<boolean> {
  const row = await db
    .selectFrom("archive_pulse")
    .where(sql<boolean>`at > now() - ${withinMs} * interval '1 ms'`)
    .select("number")
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Locks the pulse so that the next one can be written. Returns undefined if another node has locked
 * it, or if the next one is not due.
 */
export async function holdPulse(
  trx: Transaction<Tables>,
  dueAfterMs: number,
): Promise<Pulse | undefined> {
  const row = await trx
    .selectFrom("archive_pulse")
    .where(sql<boolean>`at <= now() - ${dueAfterMs} * interval '1 ms'`)
    .select(["number", "nonce"])
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  return row && { number: Number(row.number), nonce: row.nonce };
}

export async function writePulse(
  trx: Transaction<Tables>,
  { number, nonce }: Pulse,
): Promise<void> {
  await trx
    .insertInto("archive_pulse")
    .values({ number, nonce })
    .onConflict((conflict) =>
      conflict.column("is_only").doUpdateSet({ number, nonce, at: sql<Date>`now()` }),
    )
    .execute();
}

export function nextPulse(last: Pulse | undefined): Pulse {
  return { number: (last?.number ?? 0) + 1, nonce: randomUUID() };
}

/** The id of this transaction, in the format of xmin. */
const thisTransaction = sql<string>`pg_current_xact_id()::xid::text`;
/** The identity of this database. pg_upgrade preserves these numbers; a dump does not. */
const here = sql<string>`(select oid::text from pg_database where datname = current_database())
  || '/' || 'archive_identity'::regclass::oid::text`;
