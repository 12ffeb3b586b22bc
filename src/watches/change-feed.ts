import { setTimeout as sleep } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import { databaseTrouble } from "../database/database-trouble.ts";
import { later } from "../database/lease.ts";
import type { ResourceChangeTable } from "../database/job-tables.ts";
import type { Tables } from "../database/tables.ts";
import { outside } from "../tracing/tracing.ts";
import { ServiceError } from "../std/service-error.ts";

/** The interval at which changes are read. */
const pollMs = 500;
/**
 * The time after which a record of a change is deleted: longer than any transaction of the service,
 * and than `lostMs`.
 */
export const changesKeptMs = 600_000;
const sweepEveryMs = 60_000;
/**
 * The time without a successful poll, because the database was unavailable, after which changes may
 * have been missed.
 */
const lostMs = 300_000;
/** The maximum number of changes that one poll reports. More of them at once end the watches. */
const changesMax = 20_000;

/** A part of the service that follows the changes of one kind of resource. */
export interface FeedReader {
  readonly kind: ResourceChangeTable["kind"];
  /** Returns the accounts whose changes are wanted. */
  accounts(): Iterable<string>;
  /** Receives the ids of resources that were created, changed or deleted, by account. */
  changed(changes: ReadonlyMap<string, readonly string[]>): Promise<void>;
  /** Receives the error after which changes may have been missed. */
  failed(error: unknown): void;
}

/**
 * Reports which resources of the watched accounts change, on any node: one statement twice a second
 * reads the records that triggers write (migration 0019). Nothing is read while nothing is watched.
 *
 * A poll remembers the snapshot of its statement, and the next poll reads the records that were not
 * visible in it. So each change is reported, however long its transaction takes, and whatever the
 * clocks show. If the receiver of changes fails, the next poll reports them again.
 */
export class ChangeFeed {
  readonly #db: Kysely<Tables>;
  readonly #readers = new Set<FeedReader>();
  /** The snapshot (pg_snapshot) of the last successful poll; undefined if nothing is followed. */
  #seen: string | undefined;
  #seenAt = 0;
  #polling: Promise<void> | undefined;
  #isRunning = false;
  #sweepAt = 0;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  add(reader: FeedReader): void {
    this.#readers.add(reader);
  }

  /**
   * Resolves when all changes until now have been reported, and each change that is committed from
   * now on will be, for the accounts that the readers name. Throws the error of the database.
   */
  async begin(): Promise<void> {
    // A poll that has begun does not know the newest account. Calls that wait for its end share the
    // next one.
    if (this.#seen !== undefined) await this.#polling?.catch(() => {});
    await (this.#polling ?? this.#poll());
    if (!this.#isRunning) void outside(() => this.#run());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      await sleep(pollMs);
      if (this.#accounts().length === 0) break;
      try {
        await (this.#polling ?? this.#poll());
        if (performance.now() >= this.#sweepAt) await this.#sweep();
      } catch (error) {
        if (databaseTrouble(error) === undefined) this.#fail(error);
      }
    }
    this.#isRunning = false;
    this.#seen = undefined;
  }

  async #poll(): Promise<void> {
    const polling = this.#report();
    this.#polling = polling;
    try {
      await polling;
    } finally {
      this.#polling = undefined;
    }
  }

  async #report(): Promise<void> {
    const { seen, changes, isLost } = await readChanges(this.#db, this.#seen, this.#accounts());
    const now = performance.now();
    if (this.#seen !== undefined) {
      if (isLost || now - this.#seenAt > lostMs) this.#fail(changesLost());
      else for (const reader of this.#readers) await report(reader, changes);
    }
    this.#seen = seen;
    this.#seenAt = now;
  }

  #accounts(): string[] {
    return [...new Set([...this.#readers].flatMap((reader) => [...reader.accounts()]))];
  }

  #fail(error: unknown): void {
    for (const reader of this.#readers) reader.failed(error);
  }

  async #sweep(): Promise<void> {
    this.#sweepAt = performance.now() + sweepEveryMs;
    await sweepChanges(this.#db);
  }
}

/** Deletes the records of changes that every node has read. */
export async function sweepChanges(db: Kysely<Tables>): Promise<void> {
  await db.deleteFrom("resource_change").where("at", "<", later(-changesKeptMs)).execute();
}

type Change = Pick<ResourceChangeTable, "kind" | "account_id" | "resource_id">;

async function report(reader: FeedReader, changes: readonly Change[]): Promise<void> {
  const ids = new Map<string, string[]>();
  for (const { kind, account_id: accountId, resource_id: id } of changes) {
    if (kind !== reader.kind) continue;
    const own = ids.get(accountId);
    if (own) own.push(id);
    else ids.set(accountId, [id]);
  }
  if (ids.size > 0) await reader.changed(ids);
}

/**
 * Reads the changes that have become visible since the snapshot `seen`, and the snapshot of this
 * statement. `isLost` states that there are too many, or that the database has gone back in time,
 * since another server has taken over.
 */
async function readChanges(
  db: Kysely<Tables>,
  seen: string | undefined,
  accounts: readonly string[],
): Promise<{ seen: string; changes: readonly Change[]; isLost: boolean }> {
  // A restored record can be of a transaction that this server has not begun yet.
  const { rows } = await sql<
    { snapshot: string; has_gone_back: boolean | null } & {
      [Key in keyof Change]: Change[Key] | null;
    }
  >`
    select snapshot.now::text as snapshot, change.*,
      pg_snapshot_xmax(snapshot.now) < pg_snapshot_xmax(${seen ?? null}::pg_snapshot) as has_gone_back
    from (select pg_current_snapshot() as now) as snapshot
    left join lateral (
      select distinct kind, account_id, resource_id from resource_change
      where written_by >= pg_snapshot_xmin(${seen ?? null}::pg_snapshot)
        and written_by < pg_snapshot_xmax(pg_current_snapshot())
        and not pg_visible_in_snapshot(written_by, ${seen ?? null}::pg_snapshot)
        and account_id = any(${[...accounts]}::uuid[])
      limit ${changesMax + 1}) as change on true
  `.execute(db);
  const [first] = rows;
  if (!first) throw new Error("the statement returns a row in any case");
  const changes = rows.flatMap(({ kind, account_id, resource_id }) =>
    kind && account_id && resource_id ? [{ kind, account_id, resource_id }] : [],
  );
  const isLost = first.has_gone_back === true || changes.length > changesMax;
  return { seen: first.snapshot, changes, isLost };
}

function changesLost(): ServiceError {
  return new ServiceError("unavailable", "changes may have been missed: watch again", {
    reason: "CHANGES_MISSED",
    retryAfterMs: 1_000,
  });
}
