import { sql, type Kysely } from "kysely";
import type { Tables } from "../../database/tables.ts";
import { newId } from "../../std/ids.ts";

/** How often a worker that stands idle says so. */
const tellMs = 1_000;
/** How long an answer to areThere() holds. */
const askMs = 250;
/**
 * Who has said nothing for so long is busy, or dead; nor is it idle where the clock was set back
 * since.
 */
const isFresh = sql<boolean>`seen_at between now() - interval '3 seconds' and now() + interval '3 seconds'`;

/**
 * What a worker and the others of its database tell each other about engines that have nothing to
 * do.
 */
export class IdleWorkers {
  readonly #db: Kysely<Tables>;
  readonly #id = newId();
  /** On the clock of performance.now(); undefined: it has said nothing, or taken it back. */
  #toldMs: number | undefined;
  #askedMs = -Infinity;
  #areThere = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Says that this worker stands idle and would take so many jobs, again and again; true where it
   * is new.
   */
  async tell(wanted: number): Promise<boolean> {
    const toldMs = this.#toldMs;
    if (performance.now() - (toldMs ?? -Infinity) < tellMs) return false;
    this.#toldMs = performance.now();
    await sql`
      insert into idle_worker (id, wanted, seen_at) values (${this.#id}, ${wanted}, now())
      on conflict (id) do update set wanted = excluded.wanted, seen_at = excluded.seen_at
    `.execute(this.#db);
    return toldMs === undefined;
  }

  /** Takes back what it has told. */
  async untell(): Promise<void> {
    if (this.#toldMs === undefined) return;
    this.#toldMs = undefined;
    await this.#db.deleteFrom("idle_worker").where("id", "=", this.#id).execute();
  }

  /** Whether another worker stands idle, or did a moment ago. */
  async areThere(): Promise<boolean> {
    if (performance.now() - this.#askedMs < askMs) return this.#areThere;
    const row = await this.#db
      .selectFrom("idle_worker")
      .where("id", "<>", this.#id)
      .where(isFresh)
      .select("id")
      .executeTakeFirst();
    this.#note(row !== undefined);
    return this.#areThere;
  }

  #note(areThere: boolean): void {
    this.#askedMs = performance.now();
    this.#areThere = areThere;
  }

  /**
   * How many jobs another idle worker wants, which nobody else is told now; 0: there is none left.
   */
  async answer(): Promise<number> {
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

  /** Deletes what workers that were killed have left. */
  async sweep(): Promise<void> {
    await this.#db
      .deleteFrom("idle_worker")
      .where(sql<boolean>`seen_at < now() - interval '1 minute'`)
      .execute();
  }
}
