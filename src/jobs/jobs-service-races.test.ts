// Race conditions: concurrent submits with one key on several nodes, and jobs that arrive between
// the pages of a list.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import {
  jobRequest,
  loopbackAllowed,
  openJobs,
  type JobRequest,
  type JobsFixture,
} from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { openTestMeter } from "../../test/fixtures/open-test-meter.ts";
import { until } from "../../test/fixtures/until.ts";
import { openDatabase, type Database } from "../database/database.ts";
import {
  ListTranscriptJobsRequestSchema,
  ListTranscriptJobsResponseSchema,
  SubmitTranscriptJobRequestSchema,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { Uploads } from "../media/uploads.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { createPageTokens } from "../std/page-token.ts";
import { createSearchLimits } from "../transcripts/search-limits.ts";
import { Arrivals } from "./arrivals.ts";
import { NodeWatches } from "../watches/node-watches.ts";
import { TranscriptWatchers } from "../transcripts/transcript-watchers.ts";
import { createJobsService } from "./jobs-service.ts";

let database: Database & { readonly folder: string };
let jobs: JobsFixture;
let account = "";
const url = "https://media.example/a.wav";

before(async () => {
  database = await openTestDatabase();
  jobs = await openJobs(database, join(database.folder, "jobs"));
  account = await jobs.addAccount();
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

/** Opens another node on the same database, with its own connections and service. */
async function openNode(uploads: Pick<Uploads, "collectUpload">) {
  const folder = join(database.folder, "postgres");
  const log = createLog("silent");
  await using opened = new AsyncDisposableStack();
  const own = opened.use(await openDatabase({ url: undefined, folder, log, durable: false }));
  const watches = new NodeWatches(own.db);
  const service = createJobsService({
    db: own.db,
    store: jobs.store,
    log,
    arrivals: new Arrivals(),
    uploads,
    pageTokens: createPageTokens(randomBytes(32)),
    searchLimits: createSearchLimits({ db: own.db }),
    watches,
    transcriptWatchers: new TranscriptWatchers(own.db, watches),
    allow: loopbackAllowed,
    recognizer: {
      languageCodes: () => ["en-US"],
      modelName: () => "tones",
      takesHints: () => false,
      canDiarize: () => false,
      checkModelsKnown() {},
    },
    meter: opened.use(openTestMeter(own.db)),
  });
  const parts = opened.move();
  return {
    async submit(request: JobRequest, key: string): Promise<string> {
      const message = create(SubmitTranscriptJobRequestSchema, request);
      const call = jobs.call(account, { "idempotency-key": key });
      return (await service.submitTranscriptJob(message, call)).name ?? "";
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("an Idempotency-Key creates one job, on any node and however late it is used", async () => {
  await using node = await openNode({ collectUpload: async () => {} });
  const racing = Array.from({ length: 20 }, async (_, index) =>
    index % 2 === 0
      ? await node.submit(jobRequest(url), "nodes")
      : await jobs.submit(account, jobRequest(url), { "idempotency-key": "nodes" }),
  );
  const names = new Set(await Promise.all(racing));
  assert.equal(names.size, 1);
  const { rows } = await database.pool.query(
    "select id from transcript_job where idempotency_key = 'nodes'",
  );
  assert.deepEqual(
    rows.map(({ id }) => `transcriptjob/${id}`),
    [...names],
  );
  const others = Array.from({ length: 6 }, async (_, index) =>
    refusalOrName(node.submit(jobRequest(`${url}?${index}`), "bodies")),
  );
  const answers = await Promise.all(others);
  assert.equal(answers.filter((answer) => answer === "already_exists").length, 5);
  assert.equal(answers.filter((answer) => answer.startsWith("transcriptjob/")).length, 1);

  // A refused submit does not use up the key.
  const bad = await refusalOrName(node.submit(jobRequest("http://10.0.0.1/"), "bad"));
  assert.equal(bad, "invalid_argument");
  assert.match(await node.submit(jobRequest(url), "bad"), /^transcriptjob/);
});

async function refusalOrName(submitting: Promise<string>): Promise<string> {
  return await submitting.catch((error: unknown) =>
    error instanceof ServiceError ? error.code : String(error),
  );
}

/** Adds a finished upload. */
async function addUpload(): Promise<{ id: string; mediaId: string }> {
  const [id, mediaId] = [newId(), newId()];
  const media = { id: mediaId, account_id: account, size_bytes: 1, content_type: "audio/wav" };
  await database.db
    .insertInto("media")
    .values({ ...media, sha256: randomBytes(32) })
    .execute();
  const upload = { id, account_id: account, transcript_id: null, media_id: mediaId };
  await database.db
    .insertInto("upload")
    .values({ ...upload, expires_at: new Date() })
    .execute();
  return { id, mediaId };
}

test("a late submit of an upload returns the job that was created with its key", async () => {
  const { id } = await addUpload();
  const metadata = { languageCode: "en-US", fileType: 1 } as const;
  const request: JobRequest = { metadata, useUri: false, uri: `uploads/${id}` };
  let first = "";
  await using late = await openNode({
    // While this submit looks up the upload, another submit creates the job, which uses up the
    // upload.
    async collectUpload() {
      first = await jobs.submit(account, request, { "idempotency-key": "upload" });
      await database.db.deleteFrom("upload").where("id", "=", id).execute();
    },
  });
  assert.equal(await late.submit(request, "upload"), first);
  assert.equal(await late.submit(request, "upload"), first);
});

test("`listTranscriptJobs()` lists each job once while others are added and deleted between pages", async () => {
  const lister = await jobs.addAccount();
  const names: string[] = [];
  for (let i = 0; i < 9; i++) names.unshift(await jobs.submit(lister, jobRequest(url)));
  // All jobs started at the same moment, as in a flood.
  await database.db
    .updateTable("transcript_job")
    .set({ started_at: new Date() })
    .where("account_id", "=", lister)
    .execute();
  const page = async (pageSize: number, pageToken: string) => {
    const request = create(ListTranscriptJobsRequestSchema, { pageSize, pageToken });
    const answer = await jobs.service.listTranscriptJobs(request, jobs.call(lister));
    return create(ListTranscriptJobsResponseSchema, answer);
  };
  const first = await page(3, "");
  const newer = await jobs.submit(lister, jobRequest(url));
  const [, , , gone = "", ...rest] = names;
  await database.db
    .deleteFrom("transcript_job")
    .where("id", "=", gone.split("/")[1] ?? "")
    .execute();
  const others = await page(1_001, first.nextPageToken);
  assert.equal(others.nextPageToken, "");
  const listed = [...first.jobs, ...others.jobs].map(({ name }) => name);
  assert.deepEqual(listed, [...names.slice(0, 3), ...rest]);
  const again = await page(0, "");
  assert.equal(again.jobs.at(0)?.name, newer, "the newest is first in the next list");
});

test("submitting an upload that is being deleted is refused, without a deadlock", async () => {
  const { id, mediaId } = await addUpload();
  const other = await jobs.addAccount();
  const metadata = { languageCode: "en-US", fileType: 1 } as const;
  const going = await database.pool.connect();
  await going.query("begin");
  await going.query("select from media where id = $1 for update", [mediaId]);
  const late = refusalOrName(
    jobs.submit(account, { metadata, useUri: false, uri: `uploads/${id}` }),
  );
  const others = refusalOrName(jobs.submit(other, jobRequest(url)));
  await until(async () => {
    const { rows } = await database.pool.query("select from pg_locks where not granted");
    return rows.length > 0;
  });
  await going.query("delete from upload where id = $1", [id]);
  await going.query("delete from media where id = $1", [mediaId]);
  await going.query("commit");
  going.release();
  assert.equal(await late, "invalid_argument");
  assert.match(await others, /^transcriptjob/);
});

test("an upload of another account is refused, even in one commit with its owner's submits", async () => {
  const other = await jobs.addAccount();
  const metadata = { languageCode: "en-US", fileType: 1 } as const;
  const uploads = await Promise.all(Array.from({ length: 10 }, addUpload));
  // Submits that arrive while the first one is being written share a commit.
  const racing = uploads.map(async ({ id }) => {
    const request: JobRequest = { metadata, useUri: false, uri: `uploads/${id}` };
    return await Promise.all([
      refusalOrName(jobs.submit(account, request)),
      refusalOrName(jobs.submit(other, request)),
    ]);
  });
  for (const [own, foreign] of await Promise.all(racing)) {
    assert.match(own, /^transcriptjob/);
    assert.equal(foreign, "invalid_argument");
  }
});
