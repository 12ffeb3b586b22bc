import { sql, type Kysely } from "kysely";
import { isDue } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import type { StoredJob } from "./stored-job.ts";
import { waitMsMax } from "./worker/lease-jobs.ts";

/** The number of waiting jobs that have a place. */
const placesMax = 1_000;
/** How long the places are used before they are read again. */
const freshMs = 500;

/**
 * The places of the jobs that wait in the queue, in the order in which workers lease them. A node
 * reads them at most twice a second, and only while a job that may wait is shown.
 */
export class QueuePlaces {
  readonly #db: Kysely<Tables>;
  #read:
    | { readonly atMs: number; readonly places: Promise<ReadonlyMap<string, number>> }
    | undefined;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /**
   * Returns how many jobs are taken before each of these jobs. A job that does not wait, or has more
   * than a thousand before it, has no entry.
   */
  async of(
    jobs: readonly Pick<StoredJob, "state" | "progressPercent">[],
  ): Promise<ReadonlyMap<string, number>> {
    const mayWait = jobs.some(
      ({ state, progressPercent }) => state === "PROCESSING" && progressPercent === 0,
    );
    return mayWait ? await this.#places() : none;
  }

  #places(): Promise<ReadonlyMap<string, number>> {
    const now = performance.now();
    if (!this.#read || now - this.#read.atMs >= freshMs) {
      // A job is also shown without its place: streams go on while the database is unavailable.
      const places = readPlaces(this.#db).catch(() => none);
      this.#read = { atMs: now, places };
    }
    return this.#read.places;
  }
}

const none: ReadonlyMap<string, number> = new Map();

/** The index of turns (0013_one_queue) gives the rows in this order. */
async function readPlaces(db: Kysely<Tables>): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string }>`
    select id from transcript_job where state = 'PROCESSING' and ${isDue(waitMsMax)}
    order by priority desc, id limit ${placesMax}::int
  `.execute(db);
  return new Map(rows.map(({ id }, before) => [id, before]));
}
