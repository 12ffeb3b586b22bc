import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { sql } from "kysely";
import { jobRequest, toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import {
  TranscriptJob_State as State,
  TranscriptMetadataSchema,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../std/ids.ts";
import { unpackSegments } from "../../transcripts/segments.ts";
import { findTranscript } from "../../transcripts/transcript-store.ts";
import { insertJobs } from "../job-store.ts";

const run = promisify(execFile);

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
  await fixture.submit("/hour.flac", await silence(59));
  await fixture.submit("/minute.flac", await silence(1));
  await forgetJobs();
});

after(() => fixture[Symbol.asyncDispose]());

/**
 * Returns a recording with minutes of silence: a small file that is nevertheless cut into pieces.
 */
async function silence(minutes: number): Promise<Buffer> {
  const source = `aevalsrc=0:s=8000:d=${minutes * 60}`;
  const parameters = ["-v", "error", "-f", "lavfi", "-i", source, "-f", "flac", "-"];
  const { stdout } = await run("ffmpeg", parameters, { encoding: "buffer" });
  return stdout;
}

/** Creates a recognizer that takes `pieceMs` for each piece and recognizes nothing in it. */
function slowRecognizer(pieceMs: number): Recognizer {
  return {
    ...toneRecognizer(),
    // oxlint-disable-next-line require-yield -- there are no words
    async *recognize(input, { signal }) {
      for await (const _ of input);
      await sleep(pieceMs, undefined, signal && { signal });
    },
  };
}

async function submit(accountId: string, path: string): Promise<string> {
  return await jobs.submit(accountId, jobRequest(fixture.url + path));
}

async function count(from: string): Promise<number> {
  const { rows } = await jobs.database.pool.query<{ count: string }>(
    `select count(*) from ${from}`,
  );
  return Number(rows[0]?.count);
}

/** The jobs that a worker has leased. */
const leased = "transcript_job where state = 'PROCESSING' and due_at > now()";
/** The jobs that a worker has released, and that wait for the next worker. */
const released = "transcript_job where state = 'PROCESSING' and lease > 0 and due_at <= now()";

/** Deletes the jobs that a test has left running and waiting. */
async function forgetJobs(): Promise<void> {
  await jobs.database.pool.query("delete from transcript_job");
}

test("a minute of audio is transcribed before any of 20 hours of another account", async () => {
  await overtakesFlood({ workers: 1, floods: 1, parallelism: 2 });
});

test("a minute of audio is transcribed before any of 20 hours of four accounts, on three workers", async () => {
  await overtakesFlood({ workers: 3, floods: 4, parallelism: 1 });
});

async function overtakesFlood(options: {
  readonly workers: number;
  /** The number of accounts with long recordings. */
  readonly floods: number;
  readonly parallelism: number;
}): Promise<void> {
  const { workers, floods, parallelism } = options;
  await using opened = new AsyncDisposableStack();
  opened.defer(forgetJobs);
  const few = await jobs.addAccount();
  const many = await Promise.all(Array.from({ length: floods }, () => jobs.addAccount()));
  for (let i = 0; i < 20; i++) await submit(many[i % floods] ?? "", "/hour.flac");
  for (let i = 0; i < workers; i++) {
    const scratchFolder = join(fixture.folder, `scratch-${workers}-${i}`);
    const parts = { scratchFolder, parallelism };
    opened.use(await jobs.openWorker(slowRecognizer(500), parts));
  }
  // Every worker runs as many of these jobs as it may, and pieces are being recognized.
  const active = Math.min(20, workers * (parallelism + 2));
  await until(async () => (await count(leased)) >= active);
  await until(async () => (await count("transcript_job_piece")) > 0);
  const job = await jobs.ended(few, await submit(few, "/minute.flac"));
  assert.equal(job.state, State.SUCCESS);
  assert.equal(await count("transcript_job where state = 'PROCESSING'"), 20);
}

test("a job that was released in favor of another account continues where it was, and nothing is recognized twice", async () => {
  await using opened = new AsyncDisposableStack();
  opened.defer(forgetJobs);
  const many = await jobs.addAccount();
  const others = await Promise.all(Array.from({ length: 9 }, () => jobs.addAccount()));
  const words = numbers(150);
  await fixture.submit("/tones.wav", toneWav(words));
  // The recording is longer than a piece, since a shorter job would occupy no place.
  await fixture.submit("/tone.wav", toneWav(Array.from({ length: 60 }, () => 40)));
  await forgetJobs();
  const gate = Promise.withResolvers<void>();
  const recognized: string[] = [];
  const recognizer = toneRecognizer({
    async onPiece(piece) {
      recognized.push(piece.join(" "));
      await gate.promise;
    },
  });
  opened.use(await jobs.openWorker(recognizer, { parallelism: 1 }));
  opened.defer(() => gate.resolve());
  const flood = [await submit(many, "/tones.wav")];
  await until(async () => recognized.length === 1);
  for (let i = 0; i < 4; i++) flood.push(await submit(many, "/tones.wav"));
  await until(async () => (await count("transcript_job where media_id is not null")) === 3);
  const singles: string[] = [];
  for (const other of others) singles.push(await submit(other, "/tone.wav"));
  // The worker leases eight jobs of other accounts in addition to the three. For the ninth, one of
  // the three leaves.
  await until(async () => (await count(released)) === 1);
  await until(async () => (await count(leased)) === 11);
  assert.equal(recognized.length, 1);
  gate.resolve();
  for (const [index, other] of others.entries()) {
    assert.equal((await jobs.ended(other, singles[index] ?? "")).state, State.SUCCESS);
  }
  for (const name of flood) {
    const job = await jobs.ended(many, name);
    const id = job.transcript?.split("/")[1] ?? "";
    const stored = await findTranscript(jobs.database.db, many, id);
    assert.ok(stored);
    const segments = await unpackSegments(stored.segments);
    const text = segments.flatMap((segment) => segment.words.map(({ word }) => word)).join("");
    assert.equal(text, words.join(" "));
  }
  assert.equal(await count("transcript_job where tries <> 1"), 0, "a release counts as no failure");
  const pieces = recognized.filter((piece) => !piece.startsWith("40 40"));
  assert.equal(pieces.length, 5 * new Set(pieces).size);
});

test("a job at its last attempt runs alone until it is past the piece at which its worker died, and then the others continue", async () => {
  await using opened = new AsyncDisposableStack();
  opened.defer(forgetJobs);
  const [one, other] = [await jobs.addAccount(), await jobs.addAccount()];
  const metadata = create(TranscriptMetadataSchema, { languageCode: "en-US", fileType: 1 });
  await submit(one, "/hour.flac");
  opened.use(await jobs.openWorker(slowRecognizer(500), { parallelism: 1 }));
  await until(async () => (await count("transcript_job_piece")) > 0);
  const { pool } = jobs.database;
  await jobs.database.db.transaction().execute(async (trx) => {
    // The job looks as if its worker had died twice.
    const id = newId();
    const job = { id, accountId: other, metadata, source: { uri: `${fixture.url}/hour.flac` } };
    const key = { idempotencyKey: null, requestSha256: null };
    const plain = {
      hints: [],
      ignoresVocabulary: false,
      writing: undefined,
      model: null,
      speakersMax: null,
      traceparent: undefined,
    };
    await insertJobs(trx, [
      { ...job, ...key, keyId: null, memberId: null, ...plain, now: new Date() },
    ]);
    await sql`update transcript_job set tries = 2, lease = 2 where id = ${id}`.execute(trx);
  });
  await until(async () => (await count("transcript_job where tries = 3")) === 1);
  assert.equal(await count(leased), 1, "the other one was released");
  assert.equal(await count("transcript_job where tries = 0"), 1, "which counts as no attempt");
  await until(async () => (await count(leased)) === 2);
  const { rows } = await pool.query<{ tries: number; pieces: number }>(
    `select tries, (select count(*)::int from transcript_job_piece where job_id = j.id) as pieces
     from transcript_job j where is_cleared`,
  );
  assert.equal(rows[0]?.tries, 1);
  assert.ok(rows[0].pieces >= 3);
});
