import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";

/**
 * Counts of a transcript's versions. A sound chain has one root, and no gaps, forks or versions out
 * of order.
 */
export interface Chain {
  readonly versions: number;
  /** The number of versions without a parent. */
  readonly roots: number;
  /** The number of versions whose parent does not exist. */
  readonly gaps: number;
  /** The number of additional children of parents. */
  readonly forks: number;
  /** The number of versions that are not later than their parent. */
  readonly unordered: number;
  /** The number of versions without segments. */
  readonly textless: number;
}

export interface FlawedVersion {
  readonly id: string;
  readonly what: string;
}

/** The maximum number of versions listed for each flaw of a transcript. */
const namedMax = 1_000;

type Versions = (db: Kysely<Tables>, transcriptId: string) => Promise<readonly FlawedVersion[]>;

/**
 * Queries for the flawed versions of a transcript. They return none if the transcript has been
 * deleted since the flaw was found.
 */
export const flawedVersions = {
  gaps: async (db, id) =>
    await named(
      db,
      sql`select v.id, 'its parent ' || v.parent_id || ' does not exist' as what
        from transcript_version v
        where v.transcript_id = ${id} and v.parent_id is not null and not exists (
          select from transcript_version p where p.id = v.parent_id and p.transcript_id = v.transcript_id)`,
    ),
  roots: async (db, id) =>
    await named(
      db,
      sql`select id, 'one of several versions without a parent' as what
        from transcript_version where transcript_id = ${id} and parent_id is null`,
    ),
  forks: async (db, id) =>
    await named(
      db,
      sql`select id, 'one of several versions whose parent is ' || parent_id as what
        from (select *, count(*) over (partition by parent_id) as siblings
          from transcript_version where transcript_id = ${id} and parent_id is not null) v
        where siblings > 1`,
    ),
  unordered: async (db, id) =>
    await named(
      db,
      sql`select v.id, 'it is not later than its parent ' || p.id as what
        from transcript_version v
        join transcript_version p on p.id = v.parent_id and p.transcript_id = v.transcript_id
        where v.transcript_id = ${id} and v.created_at <= p.created_at`,
    ),
  cycles: async (db, id) =>
    await named(
      db,
      sql`with recursive reached as (
          select v.id from transcript_version v
          where v.transcript_id = ${id} and not exists (
            select from transcript_version p where p.id = v.parent_id and p.transcript_id = v.transcript_id)
          union
          select v.id from transcript_version v join reached r on v.parent_id = r.id
          where v.transcript_id = ${id})
        select id, 'its parents lead back to it' as what
        from transcript_version
        where transcript_id = ${id} and id not in (select id from reached)`,
    ),
  textless: async (db, id) =>
    await named(
      db,
      sql`select v.id, 'its segments do not exist' as what
        from transcript_version v
        where v.transcript_id = ${id} and not exists (
          select from transcript_segments s
          where s.transcript_id = v.transcript_id and s.sha256 = v.segments_sha256)`,
    ),
} satisfies Readonly<Record<string, Versions>>;

async function named(
  db: Kysely<Tables>,
  query: ReturnType<typeof sql>,
): Promise<readonly FlawedVersion[]> {
  const { rows } = await sql<FlawedVersion>`
    select id, what from (${query}) flawed order by id limit ${namedMax}`.execute(db);
  return rows;
}
