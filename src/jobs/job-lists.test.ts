import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { jobRequest, openJobs, type JobsFixture } from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Database } from "../database/database.ts";
import {
  ListTranscriptJobsRequestSchema,
  ListTranscriptJobsResponseSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";

let folder = "";
let database: Database;
let jobs: JobsFixture;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hlust-jobs-test-"));
  database = await openTestDatabase();
  jobs = await openJobs(database, folder);
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function list(
  account: string,
  query: { readonly filter: string; readonly pageSize?: number; readonly pageToken?: string },
) {
  const request = create(ListTranscriptJobsRequestSchema, query);
  const answer = await jobs.service.listTranscriptJobs(request, jobs.call(account));
  return create(ListTranscriptJobsResponseSchema, answer);
}

/** Returns the subjects of all pages. */
async function subjectsOf(account: string, filter: string, pageSize = 2): Promise<string[]> {
  const subjects: string[] = [];
  let pageToken = "";
  do {
    const page = await list(account, { filter, pageSize, pageToken });
    subjects.push(...page.jobs.map((job) => job.transcriptMetadata?.subject ?? ""));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return subjects;
}

test("a filter finds jobs by subject, keywords and state, newest first, in pages", async () => {
  const [account, other] = [await jobs.addAccount(), await jobs.addAccount()];
  const submitted: [subject: string, keywords: string[]][] = [
    ["Þingfundur", ["a", "b"]],
    ["ÞINGFUNDUR um æsku", ["a"]],
    ["100 % a_b", ["A"]],
    ["", []],
    ["straße", ["b"]],
  ];
  const names: string[] = [];
  for (const [subject, keywords] of submitted) {
    const metadata = { languageCode: "en-US", fileType: 1, subject, keywords } as const;
    const named = { metadata, useUri: true, uri: "https://media.example/a.wav" };
    names.unshift(await jobs.submit(account, named));
    await jobs.submit(other, named);
  }
  const cancelled = names[1]?.replace("transcriptjob/", "") ?? "";
  await database.db
    .updateTable("transcript_job")
    .set({ state: "CANCELLED" })
    .where("id", "=", cancelled)
    .execute();
  const all = submitted.map(([subject]) => subject).toReversed();
  const [strasse, none, percent, second, first] = all;
  const rows: [filter: string, found: (string | undefined)[]][] = [
    ["", all],
    ['metadata.subject CONTAINS "þing"', [second, first]],
    ['metadata.subject CONTAINS "STRASSE"', [strasse]],
    ['metadata.subject CONTAINS "%"', [percent]],
    ['metadata.subject CONTAINS ""', all],
    ['metadata.keywords CONTAINS ["a"]', [second, first]],
    ['metadata.keywords CONTAINS ["A", "b"]', [strasse, percent, first]],
    ['metadata.keywords CONTAINS ["a"] AND metadata.keywords CONTAINS ["b"]', [first]],
    ['state = "CANCELLED"', [none]],
    ['state = "PROCESSING"', [strasse, percent, second, first]],
    ['state = "PROCESSING" AND metadata.keywords CONTAINS ["b"]', [strasse, first]],
    ['state = "CANCELLED" AND metadata.keywords CONTAINS ["b"]', []],
    ['state = "CANCELLED" AND state = "PROCESSING"', []],
    ['state = "WAITING_FOR_CONTENT"', []],
    ['metadata.subject CONTAINS "nowhere"', []],
  ];
  for (const [filter, found] of rows) {
    assert.deepEqual(await subjectsOf(account, filter), found, filter);
  }
});

test("a filter finds the same jobs among the newest, by an index, and by a full scan", async () => {
  const account = await jobs.addAccount();
  await sql`
    insert into transcript_job (id, account_id, state, metadata, subject, keywords, started_at, updated_at)
    select gen_random_uuid(), ${account}, case when n % 500 = 0 then 'ERROR' else 'SUCCESS' end,
      jsonb_build_object('subject', subject), subject, array['k' || n % 1000], at, at
    from (
      select n, 'm ' || n as subject, timestamptz '2026-01-01' + n / 3 * interval '1 millisecond' as at
      from generate_series(1, 12000) n) as made`.execute(database.db);
  await sql`analyze transcript_job`.execute(database.db);
  const { rows } = await sql<{ number: number; state: string; subject: string }>`
    select substr(subject, 3)::int as number, state, subject from transcript_job
    where account_id = ${account} order by started_at desc, id desc`.execute(database.db);
  const cases: [filter: string, passes: (row: (typeof rows)[0]) => boolean][] = [
    ['metadata.subject CONTAINS "m 11"', ({ subject }) => subject.includes("m 11")],
    ['metadata.subject CONTAINS "119"', ({ subject }) => subject.includes("119")],
    ['metadata.keywords CONTAINS ["k1", "k7"]', ({ number }) => [1, 7].includes(number % 1000)],
    ['state = "ERROR"', ({ number }) => number % 500 === 0],
    [
      'state = "SUCCESS" AND metadata.subject CONTAINS "77"',
      ({ number, subject }) => number % 500 !== 0 && subject.includes("77"),
    ],
    ['metadata.subject CONTAINS "z"', () => false],
  ];
  for (const [filter, passes] of cases) {
    const expected = rows.filter(passes).map(({ subject }) => subject);
    for (const size of [5, 1000]) {
      assert.deepEqual(await subjectsOf(account, filter, size), expected, `${filter}, ${size}`);
    }
  }
});

test("a wrong filter, and a page token of another filter, are refused", async () => {
  const account = await jobs.addAccount();
  for (let count = 0; count < 2; count += 1) {
    await jobs.submit(account, jobRequest("https://media.example/a.wav"));
  }
  const filter = 'state = "PROCESSING"';
  const { nextPageToken: pageToken } = await list(account, { filter, pageSize: 1 });
  assert.equal((await list(account, { filter, pageToken })).jobs.length, 1);
  const states =
    '"SUBMITTED" or "WAITING_FOR_CONTENT" or "PROCESSING" or "SUCCESS" or "ERROR" or "CANCELLED"';
  const token = "is not a nextPageToken of this list with this filter";
  const refused: [query: Parameters<typeof list>[1], field: string, description: string][] = [
    [{ filter: "", pageToken }, "pageToken", token],
    [{ filter: 'state = "ERROR"', pageToken }, "pageToken", token],
    [{ filter: `${filter} `, pageToken }, "pageToken", token],
    [{ filter: 'state = "DONE"' }, "filter", `expected ${states} at column 9, found "\\"DONE\\""`],
    [
      { filter: 'state CONTAINS "ERROR"' },
      "filter",
      'expected = at column 7, found "CONTAINS \\"ERROR\\""',
    ],
    [
      { filter: "x" },
      "filter",
      'expected metadata.subject or metadata.keywords or state at column 1, found "x"',
    ],
    [
      { filter: Array.from({ length: 11 }, () => filter).join(" AND ") },
      "filter",
      "has 11 clauses; at most 10 are allowed",
    ],
  ];
  for (const [query, field, description] of refused) {
    await assert.rejects(list(account, query), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(error.violations, [{ field, description }]);
      return true;
    });
  }
});
