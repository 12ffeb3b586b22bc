// Migrations give the rows of earlier versions what the current version needs.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import {
  openClient,
  openEmptyDatabases,
  openMigrated,
  type EmptyDatabases,
} from "../../test/fixtures/open-empty-databases.ts";
import { foldText } from "../std/fold-text.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { migrate, migrations } from "./migrate.ts";
import { first } from "./migrations/0001_first.ts";
import { jobWindows } from "./migrations/0002_job_windows.ts";

const log = createLog("silent");

let databases: EmptyDatabases;
before(async () => {
  databases = await openEmptyDatabases();
});
after(() => databases[Symbol.asyncDispose]());

const newDatabase = async (name: string): Promise<string> => await databases.newDatabase(name);

describe("migrate()", () => {
  it("requests descriptions for the media of transcripts that an earlier version stored", async () => {
    const url = await newDatabase("earlier");
    const earlier = { "0001_first": first, "0002_job_windows": jobWindows };
    await migrate({ connectionString: url }, log, { list: earlier });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const [account, kept, unused] = [newId(), newId(), newId()];
    await client.query("insert into account values ($1, 'test')", [account]);
    const media = "insert into media values ($1, $2, 1, '', 'audio/wav')";
    for (const id of [kept, unused]) await client.query(media, [id, account]);
    await client.query(
      `insert into transcript (id, account_id, version_id, metadata, keywords, media_id)
       select gen_random_uuid(), $1, gen_random_uuid(), '{}', '{}', $2 from generate_series(1, 2)`,
      [account, kept],
    );
    await client.end();
    await using opened = await openMigrated(url);
    const rows = await opened.db.selectFrom("media_description").select("media_id").execute();
    assert.deepEqual(rows, [{ media_id: kept }]);
  });

  it("folds the subjects of existing transcripts, and sets the parent versions of their heads", async () => {
    const url = await newDatabase("before_archive");
    const landed = { "0001_first": first, "0002_job_windows": jobWindows };
    await migrate({ connectionString: url }, log, { list: landed });
    await using client = await openClient(url);
    // There are more subjects than are folded in one batch, and each has a letter beyond ASCII.
    const subjects = ["STRASSE Straße", "ΟΔΟΣ", "e\u0301 É", "ﬁ İ", "Plain", "ÞÁ", "", undefined];
    await client.query("insert into account (id, display_name) values (gen_random_uuid(), 'a')");
    await client.query(
      `insert into transcript (id, account_id, version_id, metadata, keywords)
       select gen_random_uuid(), account.id, gen_random_uuid(), text::jsonb, '{}'
       from account, unnest($1::text[]) text, generate_series(1, 1100)`,
      [subjects.map((subject) => JSON.stringify({ subject }))],
    );
    await client.query(
      `insert into transcript_segments select id, '\\x00', '\\x00', 0 from transcript`,
    );
    await client.query(
      `insert into transcript_version (id, transcript_id, parent_id, metadata, segments_sha256)
       select version_id, id, case when metadata->>'subject' = 'ÞÁ' then id end, metadata, '\\x00' from transcript`,
    );
    await using opened = await openMigrated(url);
    const { rows } = await opened.pool.query<{ was: string | null; is: string; count: string }>(
      `select metadata->>'subject' as was, subject as is, count(*) from transcript
       where (parent_version_id is not null) = (metadata->>'subject' is not distinct from 'ÞÁ')
         and (parent_version_id = id) is not false
       group by 1, 2`,
    );
    const expected = subjects.map((was) => ({
      was: was ?? null,
      is: foldText(was ?? ""),
      count: "1100",
    }));
    const order = (a: { was: string | null }, b: { was: string | null }) =>
      `${a.was}`.localeCompare(`${b.was}`);
    assert.deepEqual(rows.toSorted(order), expected.toSorted(order));
  });

  it("gives the rows of earlier versions the states, speakers and sources of the original contract", async () => {
    const url = await newDatabase("before_contract");
    const landed = Object.entries(migrations).filter(([name]) => name < "0014");
    await migrate({ connectionString: url }, log, { list: Object.fromEntries(landed) });
    await using client = await openClient(url);
    await client.query("insert into account (id, display_name) values (gen_random_uuid(), 'a')");
    const insertJob = `insert into transcript_job (id, account_id, state, metadata, error)
      select gen_random_uuid(), id, $1, $2, $3 from account`;
    await client.query(insertJob, ["PROCESSING", { originalUri: "http://a/" }, null]);
    await client.query(insertJob, ["FAILED", { originalUri: "uploads/1" }, { code: 1 }]);
    await client.query(insertJob, ["FAILED", {}, { code: 5 }]);
    const metadata = {
      subject: "s",
      originalUri: "http://a/",
      dictation: true,
      additionalMetadata: { a: "b" },
      speakers: { S1: { name: "Þóra" }, S2: {} },
    };
    await client.query(
      `insert into transcript (id, account_id, version_id, subject, metadata, keywords)
       select gen_random_uuid(), id, gen_random_uuid(), 's', $1, '{}' from account`,
      [metadata],
    );
    await client.query(
      "insert into transcript_segments select id, '\\x00', '\\x00', 0 from transcript",
    );
    await client.query(
      `insert into transcript_version (id, transcript_id, metadata, segments_sha256)
       select version_id, id, metadata, '\\x00' from transcript`,
    );
    await using opened = await openMigrated(url);
    const jobs = await opened.pool.query(
      "select state, metadata from transcript_job order by state",
    );
    assert.deepEqual(jobs.rows, [
      { state: "CANCELLED", metadata: {} },
      { state: "ERROR", metadata: {} },
      { state: "PROCESSING", metadata: { originalUri: "http://a/" } },
    ]);
    const { rows } = await opened.pool.query(
      "select metadata from transcript union all select metadata from transcript_version",
    );
    const { dictation: _, ...others } = metadata;
    const now = {
      ...others,
      additionalMetadata: { a: "b", dictation: "true" },
      speakers: { S1: { fullName: "Þóra" }, S2: {} },
    };
    assert.deepEqual(rows, [{ metadata: now }, { metadata: now }]);
  });

  it("gives transcripts and jobs of earlier versions what lists order and filter by", async () => {
    const url = await newDatabase("before_orders");
    const landed = Object.entries(migrations).filter(([name]) => name < "0015");
    await migrate({ connectionString: url }, log, { list: Object.fromEntries(landed) });
    await using client = await openClient(url);
    await client.query("insert into account (id, display_name) values (gen_random_uuid(), 'a')");
    await client.query(
      `insert into media (id, account_id, size_bytes, content_type, duration_ms)
       select gen_random_uuid(), id, 1, 'audio/wav', 5000 from account`,
    );
    // The media, media that was deleted, the metadata of a job, the metadata of replaced media.
    const rows: [subject: string, media: boolean, gone: number | null, replaced: boolean][] = [
      ["ábót", true, null, false],
      ["abba", false, 7000, false],
      ["æ", false, null, false],
      ["b", false, null, true],
    ];
    for (const row of rows) {
      await client.query(
        `insert into transcript (id, account_id, version_id, subject, metadata, keywords, media_id,
           recording_ms, media_was_replaced)
         select gen_random_uuid(), account_id, gen_random_uuid(), $1,
           '{"recordingDuration": "61.500s"}', '{}', case when $2 then id end, $3, $4 from media`,
        row,
      );
    }
    const jobs = [{ subject: "Þing ΟΔΟΣ", keywords: ["b", "A"] }, { subject: "Iðja" }, {}];
    for (const metadata of jobs) {
      await client.query(
        `insert into transcript_job (id, account_id, state, metadata)
         select gen_random_uuid(), id, 'SUCCESS', $1 from account`,
        [metadata],
      );
    }
    await using opened = await openMigrated(url);
    const transcripts = await opened.pool.query(
      "select subject, listed_ms from transcript order by subject_key",
    );
    assert.deepEqual(transcripts.rows, [
      { subject: "abba", listed_ms: 7_000 },
      { subject: "ábót", listed_ms: 5_000 },
      { subject: "b", listed_ms: null },
      { subject: "æ", listed_ms: 61_500 },
    ]);
    const found = await opened.pool.query(
      "select subject, keywords from transcript_job order by subject",
    );
    assert.deepEqual(found.rows, [
      { subject: "", keywords: [] },
      { subject: "iðja", keywords: [] },
      { subject: "þing οδοσ", keywords: ["b", "A"] },
    ]);
  });

  it("leaves jobs, uploads and media as they are, without content, file names or parts", async () => {
    const url = await newDatabase("before_content");
    const landed = Object.entries(migrations).filter(([name]) => name < "0016");
    await migrate({ connectionString: url }, log, { list: Object.fromEntries(landed) });
    await using client = await openClient(url);
    const [account, media, done] = [newId(), newId(), newId()];
    await client.query("insert into account (id, display_name) values ($1, 'a')", [account]);
    await client.query(
      "insert into media (id, account_id, size_bytes, content_type) values ($1, $2, 5, 'audio/wav')",
      [media, account],
    );
    const states = ["PROCESSING", "SUCCESS", "ERROR", "CANCELLED"];
    const insertJob = `insert into transcript_job (id, account_id, state, metadata)
      values (gen_random_uuid(), $1, $2, '{}')`;
    for (const state of states) await client.query(insertJob, [account, state]);
    await client.query(
      `insert into upload (id, account_id, media_id, expires_at)
       values ($1, $2, $3, '2026-11-24Z'), (gen_random_uuid(), $2, null, '2026-11-25Z')`,
      [done, account, media],
    );
    await using opened = await openMigrated(url);
    const jobs = await opened.pool.query(
      "select state, content_transcript_id as content from transcript_job order by state",
    );
    assert.deepEqual(
      jobs.rows,
      states.toSorted().map((state) => ({ state, content: null })),
    );
    const uploads = await opened.pool.query(
      `select media_id, expires_at, writer, holder, held_until, size_bytes, received_bytes,
         client_metadata from upload order by expires_at`,
    );
    const without = { writer: null, holder: null, held_until: null, size_bytes: null };
    const unused = { ...without, received_bytes: "0", client_metadata: "" };
    assert.deepEqual(uploads.rows, [
      { media_id: media, expires_at: new Date("2026-11-24Z"), ...unused },
      { media_id: null, expires_at: new Date("2026-11-25Z"), ...unused },
    ]);
    const files = await opened.pool.query("select id, size_bytes, file_name from media");
    assert.deepEqual(files.rows, [{ id: media, size_bytes: "5", file_name: "" }]);

    // Jobs wait for content from now on, one for each transcript, and other states stay refused.
    const wait = `update transcript_job set state = 'WAITING_FOR_CONTENT', content_transcript_id = $1
      where state = $2`;
    await opened.pool.query(wait, [done, "PROCESSING"]);
    await assert.rejects(opened.pool.query(wait, [done, "ERROR"]), {
      code: "23505",
      constraint: "transcript_job_content",
    });
    await assert.rejects(opened.pool.query(insertJob, [account, "FAILED"]), {
      code: "23514",
      constraint: "transcript_job_state_check",
    });
  });

  it("gives existing versions the kinds that are certain, and ties kinds to their place", async () => {
    const url = await newDatabase("before_authors");
    const landed = Object.entries(migrations).filter(([name]) => name < "0020");
    await migrate({ connectionString: url }, log, { list: Object.fromEntries(landed) });
    await using client = await openClient(url);
    const [account, transcript, edited, aligned] = [newId(), newId(), newId(), newId()];
    await client.query("insert into account (id, display_name) values ($1, 'a')", [account]);
    await client.query(
      `insert into transcript (id, account_id, version_id, subject, metadata, keywords)
       values ($1, $2, $1, '', '{}', '{}')`,
      [transcript, account],
    );
    await client.query("insert into transcript_segments values ($1, '\\x00', '\\x00', 0)", [
      transcript,
    ]);
    const insert = async (id: string, parent: string | null, metadata: object) =>
      await client.query(
        `insert into transcript_version (id, transcript_id, parent_id, metadata, segments_sha256)
         values ($1, $2, $3, $4, '\\x00')`,
        [id, transcript, parent, metadata],
      );
    const first = new Map<string, string>();
    for (const dataSource of ["USER", "UPLOAD", "URI", "LATER"]) {
      const id = newId();
      first.set(dataSource, id);
      await insert(id, null, { dataSource });
    }
    await insert(newId(), null, {});
    await insert(edited, first.get("URI") ?? null, { dataSource: "URI" });
    await insert(aligned, edited, { dataSource: "URI" });
    await client.query(
      `insert into alignment_job (id, account_id, transcript_id, version_id, created_version_id, turn)
       values ($1, $2, $3, $4, $5, 1)`,
      [newId(), account, transcript, edited, aligned],
    );
    await using opened = await openMigrated(url);
    const { rows } = await opened.pool.query(
      `select metadata->>'dataSource' as source, kind, author, note,
         parent_id is null as "isFirst" from transcript_version order by 1, 5 desc, kind`,
    );
    const none = { author: "", note: "" };
    assert.deepEqual(rows, [
      { source: "LATER", kind: null, ...none, isFirst: true },
      { source: "UPLOAD", kind: "RECOGNIZED", ...none, isFirst: true },
      { source: "URI", kind: "RECOGNIZED", ...none, isFirst: true },
      { source: "URI", kind: "ALIGNED", ...none, isFirst: false },
      { source: "URI", kind: null, ...none, isFirst: false },
      { source: "USER", kind: "IMPORTED", ...none, isFirst: true },
      { source: null, kind: null, ...none, isFirst: true },
    ]);
    const refused: [column: string, value: string, id: string | undefined][] = [
      ["kind", "EDITED", first.get("USER")],
      ["kind", "IMPORTED", edited],
      ["kind", "OTHER", edited],
      ["author", "members/1", edited],
      ["author", `operators/${account}`, edited],
    ];
    for (const [column, value, id] of refused) {
      const set = opened.pool.query(`update transcript_version set ${column} = $1 where id = $2`, [
        value,
        id,
      ]);
      await assert.rejects(
        set,
        { code: "23514", constraint: `transcript_version_${column}` },
        value,
      );
    }
  });
});
