import { type Kysely, sql } from "kysely";
import type { SchemaChange } from "../schema-change.ts";
import { foldText } from "../../std/fold-text.ts";

/**
 * Lists in three orders, and lists of jobs with a filter (docs/decisions.md):
 *
 * - `transcript.subject_key` orders subjects, and `transcript.listed_ms` is the recording duration
 *   that lists show; each order has an index, of which one replaces two that are no longer used;
 * - `transcript_job` has the subject and the keywords of its metadata as a transcript has them.
 *
 * The table of transcripts is rewritten once, without its indexes, which are created again: minutes
 * for a million transcripts and as many jobs, most of them for the key and the trigrams of
 * subjects. Nodes of an earlier version do not maintain the new columns: stop them first.
 */
export const listOrders: SchemaChange = {
  oldestProgram: "0.1.0",
  locks: { transcript: "calls", transcript_job: "calls" },
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db);
    await foldSubjects(db);
    for (const statement of indexes) await sql.raw(statement).execute(db);
  },
};

/**
 * The characters of folded subjects in their order: spaces, punctuation and symbols as in the
 * Unicode collation, digits, the Icelandic alphabet.
 */
const inOrder =
  " _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789aábcdðeéfghiíjklmnoópqrstuúvwxyýzþæöå";

/** Characters that have the place of another: its variants in Icelandic dictionaries. */
const variants: Readonly<Record<string, string>> = {
  " ": "\t\n\r\u00a0",
  "-": "–—",
  ".": "…",
  "'": "‘’‚",
  '"': "“”„«»",
  a: "àâãāăą",
  c: "çćĉċč",
  d: "ďđ",
  e: "èêëēĕėęě",
  g: "ĝğġģ",
  h: "ĥħ",
  i: "ìîïĩīĭį",
  j: "ĵ",
  k: "ķ",
  l: "ĺļľŀł",
  n: "ñńņňŋ",
  o: "òôõōŏőœ",
  r: "ŕŗř",
  s: "śŝşš",
  t: "ţťŧ",
  u: "ùûüũūŭůűų",
  w: "ŵ",
  y: "ÿŷ",
  z: "źżž",
  æ: "äǽ",
  ö: "øǿ",
};

/**
 * Returns the SQL expression of the key: each character becomes the ASCII character of its place,
 * so that the order of the bytes is the order of the subjects on every server. Other letters keep
 * their code points, and come after these.
 */
function keyOfSubject(): string {
  const pairs = Array.from(inOrder).flatMap((char, at) => {
    const place = String.fromCharCode(0x20 + at);
    return Array.from(char + (variants[char] ?? ""), (each) => [each, place] as const);
  });
  const [from, to] = [pairs.map(([char]) => char), pairs.map(([, place]) => place)].map(
    (chars) => `'${chars.join("").replaceAll("'", "''")}'`,
  );
  return `translate(left(subject, 100), ${from}, ${to})`;
}

const statements = [
  `drop index transcript_account_id_created_at_id_idx, transcript_account_id_updated_at_idx,
     transcript_account_id_subject_idx, transcript_account_id_keywords_idx`,
  `alter table transcript add listed_ms int`,
  `update transcript t set listed_ms = shown.ms
     from (
       select t.id, coalesce(
         case when t.media_id is null then t.recording_ms else m.duration_ms end,
         case when not t.media_was_replaced
           then round(rtrim(t.metadata ->> 'recordingDuration', 's')::numeric * 1000)::int end) as ms
       from transcript t left join media m on m.id = t.media_id) as shown
     where shown.id = t.id and shown.ms is not null`,
  `alter table transcript add subject_key text collate "C" not null
     generated always as (${keyOfSubject()}) stored`,
  `alter table transcript_job
     add subject text not null default '',
     add keywords text[] not null default '{}'`,
  `update transcript_job
     set subject = lower(coalesce(metadata ->> 'subject', '') collate "C"),
       keywords = array(select jsonb_array_elements_text(coalesce(metadata -> 'keywords', '[]')))
     where metadata ? 'subject' or metadata ? 'keywords'`,
];

const indexes = [
  `create index transcript_listed_by_change on transcript (account_id, updated_at, id)`,
  `create index transcript_listed_by_subject on transcript (account_id, subject_key, id)`,
  // A list has unknown durations last in both directions.
  `create index transcript_listed_by_duration on transcript
     (account_id, coalesce(listed_ms, 2147483647), id)`,
  `create index transcript_listed_by_duration_down on transcript
     (account_id, coalesce(listed_ms, -1), id)`,
  `create index transcript_account_id_subject_idx on transcript
     using gin (account_id, subject gin_trgm_ops)`,
  `create index transcript_account_id_keywords_idx on transcript using gin (account_id, keywords)`,
  `create index on transcript_job (account_id, state, started_at desc, id desc)`,
  `create index on transcript_job using gin (account_id, subject gin_trgm_ops)`,
  `create index on transcript_job using gin (account_id, keywords)`,
];

const foldedAtOnce = 5_000;

/** Folds the subjects of jobs that are not plain ASCII, as subjects of transcripts are folded. */
async function foldSubjects(db: Kysely<unknown>): Promise<void> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const { rows } = await sql<{ id: string; text: string }>`
      select id, metadata ->> 'subject' as text from transcript_job
      where id > ${after} and octet_length(metadata ->> 'subject') > char_length(metadata ->> 'subject')
      order by id limit ${foldedAtOnce}`.execute(db);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
    const [ids, subjects] = [rows.map(({ id }) => id), rows.map(({ text }) => foldText(text))];
    await sql`
      update transcript_job j set subject = folded.subject
      from unnest(${ids}::uuid[], ${subjects}::text[]) as folded (id, subject)
      where j.id = folded.id`.execute(db);
  }
}
