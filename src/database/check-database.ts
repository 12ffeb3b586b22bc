import type pg from "pg";

const versionMin = 15;

interface Facts {
  version: number;
  version_text: string;
  encoding: string;
  folds_case: boolean;
  synchronous_commit: string;
  fsync: string;
}

/**
 * Refuses a database that would lose acknowledged writes or could not search Icelandic text, and
 * states what to do.
 */
export async function checkDatabase(
  pool: pg.Pool,
  { durable, makesExtension }: { durable: boolean; makesExtension: boolean },
): Promise<void> {
  const { rows } = await pool.query<Facts>(`
    select current_setting('server_version_num')::int / 10000 as version,
           current_setting('server_version') as version_text,
           current_setting('server_encoding') as encoding,
           lower('ÞÁ') = 'þá' as folds_case,
           current_setting('synchronous_commit') as synchronous_commit,
           current_setting('fsync') as fsync`);
  const facts = rows[0];
  if (!facts) throw new Error("the database did not return its version");
  if (facts.version < versionMin) {
    refuse(`it is PostgreSQL ${facts.version_text}, and ${versionMin} or newer is needed`);
  }
  if (facts.encoding !== "UTF8") {
    refuse(`its encoding is ${facts.encoding}. ${createAdvice}`);
  }
  if (!facts.folds_case) {
    refuse(`its locale does not know Icelandic letters (lower('ÞÁ') is not 'þá'). ${createAdvice}`);
  }
  if (durable && (facts.synchronous_commit === "off" || facts.fsync === "off")) {
    refuse(
      `it answers before data is on the disk (synchronous_commit is ${facts.synchronous_commit}, fsync is ${facts.fsync}): ` +
        `a power cut would lose acknowledged writes. Set both to on`,
    );
  }
  await checkTrigrams(pool, makesExtension);
}

const createAdvice =
  "Create it with: create database hlust template template0 encoding 'UTF8' locale_provider icu icu_locale 'und' " +
  "locale 'C.UTF-8'";

/**
 * Checks the trigrams: a locale without letters beyond ASCII silently drops such letters from them.
 */
async function checkTrigrams(pool: pg.Pool, makesExtension: boolean): Promise<void> {
  const trigrams = async () => {
    if (makesExtension) await pool.query("create extension if not exists pg_trgm");
    return pool.query<{ found: boolean }>(
      `select show_trgm('ÞÆÖ') = show_trgm('þæö')
         and (select bool_and(cardinality(show_trgm(word)) >= 4) from unnest(array['þæö', 'σδφ', '会議録']) word) as found`,
    );
  };
  const { rows } = await trigrams().catch((error: unknown) => {
    // Another node that is starting concurrently has just created it.
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "23505" || code === "42710") return trigrams();
    const why = error instanceof Error ? error.message : String(error);
    return refuse(
      `its extension pg_trgm cannot be used (${why}). Let its owner run: create extension pg_trgm; ` +
        `create extension btree_gin`,
    );
  });
  if (!rows[0]?.found) refuse(`pg_trgm drops letters beyond ASCII in its locale. ${createAdvice}`);
}

function refuse(why: string): never {
  throw new Error(`the database cannot be used: ${why}.`);
}
