import { join } from "node:path";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../src/database/database.ts";
import { createLog } from "../../src/std/log.ts";

/** Subjects of recordings, with keywords. */
const kinds: readonly (readonly [subject: string, ...keywords: string[]])[] = [
  ["Óundirbúinn fyrirspurnatími", "þingfundur", "fyrirspurnir"],
  ["Störf þingsins", "þingfundur"],
  ["Fundur fjárlaganefndar", "þingfundur", "fjárlög"],
  ["Viðtal um hlaupið í Skeiðará", "viðtal", "Öræfi"],
  ["Morgunútvarpið", "útvarp"],
  ["Erindi um örnefni á Ströndum", "örnefni", "Þjóðfræði", "æviágrip", "erindi"],
  ["Weekly briefing, Reykjavík office", "briefing"],
  ["Fundur hafnarstjórnar"],
];

/** Opens the database of a running service. */
export async function openServedDatabase(dataFolder: string): Promise<Database> {
  const folder = join(dataFolder, "postgres");
  return await openDatabase({ url: undefined, folder, log: createLog("silent") });
}

/**
 * Inserts `count` transcripts without segments and media into the account of a running service. The
 * newest is from `until`, and each of the others is a minute older than the next newer one. Titles
 * end with a number; the oldest has the number 1, or `first`.
 */
export async function seedTranscripts(
  dataFolder: string,
  count: number,
  until = new Date("2026-11-20T10:00:00Z"),
  first = 1,
): Promise<void> {
  await using database = await openServedDatabase(dataFolder);
  const last = first + count - 1;
  const made = sql`
    select n, md5('transcript' || n)::uuid as id, kind->>0 as kind,
           kind->>0 || ', ' || n as subject, kind - 0 as keywords,
           ${until}::timestamptz - (${last} - n) * interval '1 minute' as created_at
    from generate_series(${first}::int, ${last}::int) n,
         lateral (select ${JSON.stringify(kinds)}::jsonb -> (n % ${kinds.length}::int) as kind) as kinds`;
  await sql`
    insert into transcript (id, account_id, version_id, metadata, subject, keywords, listed_ms, created_at, updated_at)
    select made.id, account.id, md5('version' || n)::uuid,
           jsonb_build_object('fileType', 'AUDIO', 'subject', made.subject, 'keywords', made.keywords,
             'languageCode', case when kind like 'Weekly%' then 'en-GB' else 'is-IS' end,
             'recordingDuration', (300 + n * 37 % 5000) || 's',
             'speakers', case when n % 3 = 0 then '{"a": {"fullName": "Þórður"}, "b": {"fullName": "Ása"}}'::jsonb else '{}' end),
           lower(made.subject), array(select jsonb_array_elements_text(made.keywords)),
           (300 + n * 37 % 5000) * 1000, created_at, created_at
    from (${made}) as made, (select id from account order by created_at limit 1) as account`.execute(
    database.db,
  );
  await sql`vacuum analyze transcript`.execute(database.db);
}
