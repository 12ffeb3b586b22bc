import { sql, type Kysely } from "kysely";
import type { Tables } from "../../database/tables.ts";
import { newId } from "../../std/ids.ts";

/** The interval at which an idle worker advertises itself. */
const advertiseEveryMs = 1_000;
/** How long a result of anyIdle() is reused. */
const anyIdleForMs = 250;
/**
 * Whether an advertisement is current. A worker that has not advertised itself for 3 s is busy or
 * has died. An advertisement from the future (if the clock was set back) does not count either.
 */
const isFresh = sql<boolean>`seen_at between now() - interval '3 seconds' and now() + interval '3 seconds'`;

/** Lets the workers of a database find out which of them are idle. */
export class IdleWorkers {
  readonly #db: Kysely<Tables>;
  readonly #id = newId();
  /**
   * When the worker was last advertised, on the clock of performance.now(); undefined if it is not
   * advertised.
   */
  #advertisedMs: number | undefined;
  #checkedMs = -Infinity;
  #isAnyIdle = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Advertises this worker as idle, with the number of jobs that it would lease. Called regularly.
   * Returns true if the worker was not advertised before.
   */
  async advertise(wanted: number): Promise<boolean> {
    const advertisedMs = this.#advertisedMs;
    if (performance.now() - (advertisedMs ?? -Infinity) < advertiseEveryMs) return false;
    this.#advertisedMs = performance.now();
    await sql`
      insert into idle_worker (id, wanted, seen_at) values (${this.#id}, ${wanted}, now())
      on conflict (id) do update set wanted = excluded.wanted, seen_at = excluded.seen_at
    `.execute(this.#db);
    return advertisedMs === undefined;
  }

  /** Withdraws the advertisement, since this worker is no longer idle. */
  async withdraw(): Promise<void> {
    if (this.#advertisedMs === undefined) return;
    this.#advertisedMs = undefined;
    await this.#db.deleteFrom("idle_worker").where("id", "=", this.#id).execute();
  }

  /** Returns whether another worker is idle, or was idle a moment ago. */
  async anyIdle(): Promise<boolean> {
    if (performance.now() - this.#checkedMs < anyIdleForMs) return this.#isAnyIdle;
    const row = await this.#db
      .selectFrom("idle_worker")
      .where("id", "<>", this.#id)
      .where(isFresh)
      .select("id")
      .executeTakeFirst();
    this.#note(row !== undefined);
    return this.#isAnyIdle;
  }

  #note(isAnyIdle: boolean): void {
    this.#checkedMs = performance.now();
    this.#isAnyIdle = isAnyIdle;
  }

  /**
   * Returns the number of jobs that another idle worker requests; 0 if there is no request. Each
   * request is claimed once.
   */
  async claimRequest(): Promise<number> {
    const { rows } = await sql<{ wanted: number }>`
      update idle_worker set wanted = 0
      from (
        select id, wanted from idle_worker
        where id <> ${this.#id} and wanted > 0 and ${isFresh}
        limit 1 for update skip locked) as idle
      where idle_worker.id = idle.id
      returning idle.wanted
    `.execute(this.#db);
    const [idle] = rows;
    if (idle) this.#note(true);
    return idle?.wanted ?? 0;
  }

  /** Deletes the rows left by workers that were killed. */
  async sweep(): Promise<void> {
    await this.#db
      .deleteFrom("idle_worker")
      .where(sql<boolean>`seen_at < now() - interval '1 minute'`)
      .execute();
  }
}
