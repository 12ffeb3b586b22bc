// Lists of transcripts and jobs with 1 MB of metadata each, which an earlier version of the service
// accepted.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { sql } from "kysely";
import { openDatabase } from "../../src/database/database.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { createLog } from "../../src/std/log.ts";
import { openTestService, type TestService } from "./service.ts";
import { draftOf } from "./transcripts.ts";

/** The numbers of rows with 1 MB of metadata and of short rows, which are older. */
const longRows = 6;
const shortRows = 20;
/** The maximum size of a response: 512 kB of metadata, and a row of 1 MB that exceeds it. */
const answerBytesMax = 2_000_000;

let service: TestService;

before(async () => {
  service = await openTestService({ HLUST_ENGINE: "scripted" });
  const folder = join(service.dataFolder, "postgres");
  await using database = await openDatabase({ url: undefined, folder, log: createLog("silent") });
  const { db } = database;
  const { id: account } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow();
  const speakers = sql`(select jsonb_object_agg('s' || n, jsonb_build_object('fullName', repeat('x', 1000))) from generate_series(1, 1000) n)`;
  const metadata = sql`jsonb_build_object('fileType', 'AUDIO', 'languageCode', 'is-IS', 'subject', 'löng ' || n, 'keywords', jsonb_build_array('löng'))
    || case when n <= ${shortRows} then '{}'::jsonb else jsonb_build_object('speakers', ${speakers}) end`;
  await sql`
    with made as (
      insert into transcript (id, account_id, version_id, metadata, subject, keywords, created_at, updated_at)
      select gen_random_uuid(), ${account}, gen_random_uuid(), ${metadata}, 'löng ' || n, array['löng'],
        now() + n * interval '1 second', now() + n * interval '1 second'
      from generate_series(1, ${longRows + shortRows}::int) n
      returning id, version_id, metadata, created_at),
    segments as (
      insert into transcript_segments (transcript_id, sha256, json_zstd, json_bytes)
      select id, '\\x00', '\\x28b52ffd20021100005b5d', 2 from made),
    versions as (
      insert into transcript_version (id, transcript_id, metadata, segments_sha256, created_at)
      select version_id, id, metadata, '\\x00', created_at from made)
    insert into transcript_job (id, account_id, state, metadata, started_at, updated_at)
    select id, ${account}, 'SUCCESS', metadata, created_at, created_at from made`.execute(db);
});
after(() => service[Symbol.asyncDispose]());

/** Returns all pages of a list over REST, as texts. */
async function pagesOf(path: string): Promise<string[]> {
  const pages: string[] = [];
  const headers = { authorization: `Bearer ${service.key}` };
  for (let token = ""; pages.length === 0 || token !== "";) {
    const separator = path.includes("?") ? "&" : "?";
    const url = `${service.address}${path}${separator}pageSize=1000&pageToken=${token}`;
    const response = await fetch(url, { headers });
    const text = await response.text();
    assert.equal(response.status, 200, text.slice(0, 500));
    pages.push(text);
    token = JSON.parse(text).nextPageToken;
  }
  return pages;
}

interface Page {
  readonly bytes: number;
  readonly subjects: string[];
}

function assertPages(pages: readonly Page[]): void {
  const subjects = pages.flatMap((page) => page.subjects);
  const all = Array.from({ length: longRows + shortRows }, (_, at) => `löng ${at + 1}`);
  assert.deepEqual(subjects, all.toReversed());
  // Each long row has a page of its own, and all short rows are on one further page.
  assert.equal(pages.length, longRows + 1);
  for (const { bytes } of pages) assert.ok(bytes < answerBytesMax, `${bytes} bytes`);
}

test("over REST, lists with long metadata have pages of bounded size", async () => {
  const filters = [
    "",
    `?filter=${encodeURIComponent('metadata.subject CONTAINS "LÖNG"')}`,
    `?filter=${encodeURIComponent('metadata.keywords CONTAINS ["löng"]')}`,
  ];
  for (const filter of filters) {
    const pages = await pagesOf(`/v1alpha1/transcripts${filter}`);
    const seen = pages.map((text) => ({
      bytes: Buffer.byteLength(text),
      subjects: JSON.parse(text).transcripts.map(
        ({ metadata }: { metadata: { subject: string } }) => metadata.subject,
      ),
    }));
    assertPages(seen);
  }
  const jobs = await pagesOf("/v1alpha1/transcriptjob");
  assertPages(
    jobs.map((text) => ({
      bytes: Buffer.byteLength(text),
      subjects: JSON.parse(text).jobs.map(
        (job: { transcriptMetadata: { subject: string } }) => job.transcriptMetadata.subject,
      ),
    })),
  );
});

test("over RPC, lists with long metadata have pages of bounded size", async () => {
  const at = { baseUrl: service.address, httpVersion: "2" } as const;
  const transports: Record<string, Transport> = {
    grpc: createGrpcTransport(at),
    "grpc json": createGrpcTransport({ ...at, useBinaryFormat: false }),
    "grpc-web": createGrpcWebTransport(at),
    connect: createConnectTransport(at),
    "connect json": createConnectTransport({ ...at, useBinaryFormat: false }),
    "connect, not compressed": createConnectTransport({ ...at, acceptCompression: [] }),
  };
  const options = { headers: { authorization: `Bearer ${service.key}` } };
  for (const [name, transport] of Object.entries(transports)) {
    const client = createClient(Transcripts, transport);
    const transcripts: Page[] = [];
    const jobs: Page[] = [];
    for (let pageToken = ""; transcripts.length === 0 || pageToken !== "";) {
      const page = await client.listTranscripts({ pageSize: 1000, pageToken }, options);
      const subjects = page.transcripts.map(({ metadata }) => metadata?.subject ?? name);
      transcripts.push({ bytes: 0, subjects });
      pageToken = page.nextPageToken;
    }
    assertPages(transcripts);
    for (let pageToken = ""; jobs.length === 0 || pageToken !== "";) {
      const page = await client.listTranscriptJobs({ pageSize: 1000, pageToken }, options);
      const metadata = page.jobs.map((job) => job.transcriptMetadata);
      jobs.push({ bytes: 0, subjects: metadata.map((each) => each?.subject ?? name) });
      pageToken = page.nextPageToken;
    }
    assertPages(jobs);
  }
});

test("new metadata has at most 64 kB of JSON; larger old metadata stays readable but cannot grow", async () => {
  const { call } = service;
  const speakers = (count: number, nameChars: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`s${at}`, { fullName: "x".repeat(nameChars) }]),
    );
  const large = draftOf("stór", { speakers: speakers(70, 1_000) });
  const tooLarge = /^metadata: is \d{5,7} bytes of JSON; at most 65536 are allowed/;
  const refused = async (method: string, path: string, body: unknown): Promise<void> => {
    const { status, json } = await call(method, path, body);
    assert.equal(status, 400);
    assert.match(json.message, tooLarge);
  };
  await refused("POST", "/v1alpha1/transcripts", large);
  const content = "1\n00:00:00,000 --> 00:00:01,000\nhæ\n";
  await refused("POST", "/v1alpha1/transcripts:import", { metadata: large.metadata, content });
  const job = { metadata: large.metadata, useUri: true, uri: "http://127.0.0.1/x.wav" };
  await refused("POST", "/v1alpha1/transcriptjob:submit", job);

  const medium = draftOf("meðal", { speakers: speakers(40, 1_000) });
  const { json: created } = await call("POST", "/v1alpha1/transcripts", medium);
  const path = `/v1alpha1/${created.name}`;
  const additionalMetadata = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [`${at}`, "x".repeat(1_500)]),
  );
  // Each of the two is small enough on its own, but not both together.
  await refused("PATCH", path, { metadata: { additionalMetadata } });

  const filter = encodeURIComponent('metadata.keywords CONTAINS ["löng"]');
  const { json: list } = await call("GET", `/v1alpha1/transcripts?pageSize=1&filter=${filter}`);
  const old = `/v1alpha1/${list.transcripts.at(0).name}`;
  const { status, json } = await call("GET", old);
  assert.deepEqual([status, Object.keys(json.metadata.speakers).length], [200, 1000]);
  await refused("PATCH", old, { metadata: { description: "more" } });
  const same = await call("PATCH", old, { metadata: { subject: "LÖNG 26" } });
  assert.deepEqual([same.status, same.json.metadata.subject], [200, "LÖNG 26"]);
  const fewer = await call("PATCH", old, { metadata: { speakers: speakers(900, 1_000) } });
  assert.equal(fewer.status, 200);
  await refused("PATCH", old, { metadata: { speakers: speakers(901, 1_000) } });
});
