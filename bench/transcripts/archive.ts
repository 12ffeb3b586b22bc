import type pg from "pg";
import { packSegments } from "../../src/transcripts/segments.ts";

/** The size of the archive, and its division among accounts. */
export interface ArchiveSize {
  readonly transcripts: number;
  /** The share of the largest account. */
  readonly largeShare: number;
  /** The share of all middle accounts together; the small accounts have the rest. */
  readonly middleShare: number;
  readonly middleAccounts: number;
}

/** A word in the subject, and a keyword, of one transcript in 20,000. */
export const rareWord = "Hverfisgata";

/** The words of subjects, the most frequent first. */
export const words =
  `Fundur Viðtal Ávarp Meeting Interview Umræða Lecture Fyrirlestur Report Skýrsla Nefnd Þing Fréttir News Samtal Podcast
  Hlaðvarp Ræða Committee Útvarp Ráðstefna Conference Námskeið Course Stjórn Board Borgarráð Council Þáttur Episode Æfing Training
  Réttur Court Heilsa Health Saga History Tónlist Music Veður Weather Sjávarútvegur Fisheries Orka Energy Skóli School Íþróttir Sports
  Ferðaþjónusta Tourism Öryggi Safety Menning Culture Landbúnaður Farming Fjárlög Budget Þjónusta Service Eldgos Eruption`.split(
    /\s+/,
  );

/** The keywords, the most frequent first. */
export const keywords =
  `fundur viðtal news podcast drög final alþingi reykjavík akureyri 2024 2025 2026 opinbert internal menning íþróttir veður saga
  þýðing review music school health orka`.split(/\s+/);

/**
 * Fills an empty archive in chronological order, with the transcripts of all accounts mixed.
 * `owners` lists the large account, then the middle accounts, then all others. Each transcript has
 * one version, without segments.
 */
export async function fillArchive(
  client: pg.ClientBase,
  owners: readonly string[],
  size: ArchiveSize,
): Promise<void> {
  // The rows are consistent, so a million foreign key checks are skipped.
  await client.query("set session_replication_role = replica");
  await client.query("set synchronous_commit = off");
  await client.query("set maintenance_work_mem = '512MB'");
  const { transcripts, largeShare, middleShare, middleAccounts } = size;
  const shares = [transcripts, largeShare, middleShare, middleAccounts];
  const indexes = await dropIndexes(client);
  await client.query(fillHeads, [...shares, owners, words, keywords, rareWord]);
  for (const index of indexes) await client.query(index);
  const { sha256, jsonZstd, jsonBytes } = await packSegments([]);
  await client.query("insert into transcript_segments select id, $1, $2, $3 from transcript", [
    sha256,
    jsonZstd,
    jsonBytes,
  ]);
  await client.query(
    `insert into transcript_version
     select version_id, id, null, metadata, $1, created_at from transcript`,
    [sha256],
  );
  await client.query("vacuum analyze transcript");
  await client.query("reset all");
}

/**
 * Drops the indexes, and returns the statements that create them again. Creating the indexes once
 * takes a third of the time of updating them for each row.
 */
async function dropIndexes(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ indexname: string; indexdef: string }>(
    `select indexname, indexdef from pg_indexes
     where tablename = 'transcript' and indexname <> 'transcript_pkey'`,
  );
  for (const { indexname } of rows) await client.query(`drop index ${indexname}`);
  return rows.map(({ indexdef }) => indexdef);
}

/** Random values are hashes of the row number, so all archives of one size are identical. */
const chance = (salt: number) =>
  `(hashint8extended(n, ${salt}) & 1048575)::float8 / 1048576 as c${salt}`;
const wordAt = (position: string) =>
  `($6::text[])[1 + floor(${position} * cardinality($6::text[]))::int]`;
const keywordAt = (position: string) =>
  `($7::text[])[1 + floor(${position} * cardinality($7::text[]))::int]`;

const fillHeads = `
  insert into transcript
    (id, account_id, version_id, metadata, subject, keywords, listed_ms, created_at, updated_at)
  select md5('transcript' || n)::uuid, owner, md5('version' || n)::uuid,
         jsonb_strip_nulls(jsonb_build_object(
           'fileType', case when c6 < 0.2 then 'VIDEO' else 'AUDIO' end, 'languageCode', 'is-IS',
           'subject', subject, 'keywords', keywords, 'recordingDuration', seconds || 's',
           'dataSource', 'URI', 'originalUri', 'https://media.example.is/upptokur/' || n || '.mp3',
           'originalCharLength', n % 50000, 'originalByteLength', n % 55000)),
         lower(subject), keywords, seconds * 1000, created_at, created_at
  from (
    select n, c6, case when c1 > 0.05 then n::int8 * 7919 % 7200 end as seconds,
           ($5::uuid[])[case
             when c1 < $2 then 1
             when c1 < $2 + $3 then 2 + floor(c2 * $4)
             else 2 + $4 + floor(c2 * (cardinality($5::uuid[]) - 1 - $4)) end::int] as owner,
           concat_ws(' ', ${wordAt("c3 * c3")}, ${wordAt("c4 * c4")}, ${wordAt("c5")}, n % 997,
             case when n % 20000 = 7 then $8 end) as subject,
           array_remove(array[${keywordAt("c6 * c6 * c6")}, case when c2 < 0.5 then ${keywordAt("c4")} end,
             case when n % 20000 = 11 then $8 end], null) as keywords,
           timestamptz '2024-01-01' + n * interval '90.000123 seconds' as created_at
    from generate_series(1, $1::int) n, lateral (select ${[1, 2, 3, 4, 5, 6].map(chance).join(", ")}) as chances
  ) as made`;
