// Measures the lists of jobs with 200,000 jobs: whole calls over REST, compared with the same SQL
// through the bare driver.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kysely, PostgresDialect, type CompiledQuery } from "kysely";
import pg from "pg";
import { Client } from "undici";
import type { Tables } from "../../src/database/tables.ts";
import { findJobsOf, listJobs } from "../../src/jobs/job-lists.ts";
import { newId } from "../../src/std/ids.ts";
import { parseFilter } from "../../src/transcripts/filter.ts";
import type { SearchLimits } from "../../src/transcripts/search-limits.ts";
import { startService, type ServiceProcess } from "../../test/fault/process.ts";
import { compareCalls, get, repeat } from "../compare-calls.ts";
import type { Figure } from "../report.ts";
import { keywords, rareWord, words } from "../transcripts/archive.ts";

const jobs = 200_000;
/** The share of the measured account; a hundred accounts have the rest. */
const share = 0.5;
const accounts = 100;
const pageSize = 50;
/** The maximum ratio at the p50, as for transcripts. */
const ratioMax = 3;
const warmCalls = 300;

const subject = (text: string): string => `metadata.subject CONTAINS "${text}"`;
const keyword = (...texts: string[]): string =>
  `metadata.keywords CONTAINS ${JSON.stringify(texts)}`;
const state = (name: string): string => `state = "${name}"`;
const filters: readonly string[] = [
  "",
  state("ERROR"),
  state("SUCCESS"),
  state("CANCELLED"),
  subject("fundur"),
  subject(rareWord),
  subject("ekkert"),
  keyword("fundur"),
  keyword(rareWord),
  keyword("ekkert"),
  `${state("ERROR")} AND ${subject("fundur")}`,
  `${state("ERROR")} AND ${keyword("orka")}`,
  `${state("ERROR")} AND ${subject("ekkert")}`,
];

/** Measures lists with its own service and jobs, which are deleted afterward. */
export async function measureJobLists(): Promise<Figure[]> {
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    const options = { HLUST_ENGINE: "scripted", HLUST_LOG: "error", HLUST_ROLE: "api" };
    await using service = await startService(data, options);
    const connection = {
      host: join(data, "postgres", "18"),
      user: "hlust",
      database: "postgres",
    };
    const client = new pg.Client(connection);
    await client.connect();
    try {
      const accountId = await fill(client);
      const queries: CompiledQuery[] = [];
      await using db = new Kysely<Tables>({
        dialect: new PostgresDialect({ pool: new pg.Pool(connection) }),
        log: ({ query }) => {
          queries.push(query);
        },
      });
      return await measureFilters(service, { client, db, queries, accountId });
    } finally {
      await client.end();
    }
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function measureFilters(
  service: ServiceProcess,
  {
    client,
    db,
    queries,
    accountId,
  }: {
    readonly client: pg.Client;
    readonly db: Kysely<Tables>;
    readonly queries: CompiledQuery[];
    readonly accountId: string;
  },
): Promise<Figure[]> {
  const http = new Client(service.address);
  const call = async (filter: string): Promise<void> => {
    const query = new URLSearchParams({ pageSize: `${pageSize}` });
    if (filter !== "") query.set("filter", filter);
    await get(http, service.key, `/v1alpha1/transcriptjob?${query.toString()}`);
  };
  await repeat(async () => await call(""), warmCalls);
  const figures: Figure[] = [];
  for (const filter of filters) {
    queries.length = 0;
    await listDirectly(db, accountId, filter);
    const asked = [...queries];
    const bare = async (): Promise<void> => {
      for (const query of asked) await client.query(query.sql, [...query.parameters]);
    };
    const whole = async (): Promise<void> => await call(filter);
    const name = `jobs: ${filter === "" ? "first page" : filter}`;
    figures.push(await compareCalls(name, service.pid, { whole, bare, ratioMax }));
  }
  await http.close();
  return figures;
}

/** Finds jobs as the service does, but without its limits. */
async function listDirectly(
  db: Kysely<Tables>,
  accountId: string,
  filterText: string,
): Promise<void> {
  const page = { after: undefined, size: pageSize };
  if (filterText === "") {
    await listJobs(db, accountId, page);
    return;
  }
  const filter = parseFilter(filterText, { states: ["ERROR", "SUCCESS", "CANCELLED"] });
  if ("field" in filter) throw new Error(filter.description);
  const limits: SearchLimits = {
    indexed: async (search) => await search(db),
    wide: async (search) => await search(() => {}),
  };
  await findJobsOf(db, { accountId, filter }, page, limits);
}

/** Fills the jobs in chronological order. Returns the account that has the largest share. */
async function fill(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>("select id from account");
  const first = rows[0]?.id ?? "";
  const others = Array.from({ length: accounts }, () => newId());
  await client.query("insert into account (id, display_name) select unnest($1::uuid[]), 'bench'", [
    others,
  ]);
  await client.query("set session_replication_role = replica");
  const values = [jobs, share, [first, ...others], words, keywords, rareWord];
  await client.query(fillJobs, values);
  await client.query("reset all");
  await client.query("vacuum analyze transcript_job");
  return first;
}

/** Random values are hashes of the row number, so all runs have the same jobs. */
const chance = (salt: number): string =>
  `(hashint8extended(n, ${salt}) & 1048575)::float8 / 1048576 as c${salt}`;
const wordAt = (position: string): string =>
  `($4::text[])[1 + floor(${position} * cardinality($4::text[]))::int]`;
const keywordAt = (position: string): string =>
  `($5::text[])[1 + floor(${position} * cardinality($5::text[]))::int]`;

const fillJobs = `
  insert into transcript_job
    (id, account_id, state, progress_percent, metadata, subject, keywords, media_uri, transcript_id,
     error, started_at, updated_at)
  select md5('job' || n)::uuid, owner, state, case when state = 'SUCCESS' then 100 else 40 end,
         jsonb_build_object('fileType', 'AUDIO', 'languageCode', 'is-IS', 'subject', subject,
           'keywords', keywords),
         lower(subject), keywords, 'https://media.example.is/upptokur/' || n || '.mp3',
         case when state = 'SUCCESS' then md5('transcript' || n)::uuid end,
         case when state in ('ERROR', 'CANCELLED')
           then jsonb_build_object('code', 3, 'message', 'the media cannot be decoded') end,
         started_at, started_at + interval '1 minute'
  from (
    select n,
           case when c5 < 0.02 then 'ERROR' when c5 < 0.021 then 'CANCELLED' else 'SUCCESS' end as state,
           ($3::uuid[])[case when c1 < $2 then 1
             else 2 + floor(c2 * (cardinality($3::uuid[]) - 1)) end::int] as owner,
           concat_ws(' ', ${wordAt("c3 * c3")}, ${wordAt("c4 * c4")}, n % 997,
             case when n % 20000 = 7 then $6 end) as subject,
           array_remove(array[${keywordAt("c4 * c4 * c4")},
             case when n % 20000 = 11 then $6 end], null) as keywords,
           timestamptz '2026-01-01' + n * interval '9.000123 seconds' as started_at
    from generate_series(1, $1::int) n,
         lateral (select ${[1, 2, 3, 4, 5].map(chance).join(", ")}) as chances
  ) as made`;
