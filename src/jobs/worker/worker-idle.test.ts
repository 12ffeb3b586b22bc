import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { jobRequest, toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];
/** The fetched paths of the media server, one entry for each fetch. */
const fetched: string[] = [];

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

/**
 * Creates a recognizer that records the pieces by their words, and delays them until the gate
 * opens.
 */
function gatedRecognizer(recognized: string[], gate: Promise<void>): Recognizer {
  return toneRecognizer({
    async onPiece(words) {
      recognized.push(words.join(" "));
      await gate;
    },
  });
}

async function openWorker(name: string, recognizer: Recognizer): Promise<AsyncDisposable> {
  const scratchFolder = join(fixture.folder, `scratch-${name}`);
  return await jobs.openWorker(recognizer, { parallelism: 1, scratchFolder });
}

async function submit(path: string, words: readonly number[]): Promise<string> {
  const wav = toneWav(words);
  fixture.serve(path, (_, response) => {
    fetched.push(path);
    response.setHeader("content-length", wav.length).end(wav);
  });
  return await jobs.submit(fixture.account, jobRequest(fixture.url + path));
}

async function count(from: string): Promise<number> {
  const { rows } = await jobs.database.pool.query<{ count: string }>(
    `select count(*) from ${from}`,
  );
  return Number(rows[0]?.count);
}

async function textOf(name: string): Promise<string> {
  const job = await jobs.ended(fixture.account, name, 120_000);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
  return (await fixture.transcriptOf(job)).text;
}

test("an idle worker takes over jobs that wait behind a long one, and continues from where they were", async () => {
  await using opened = new AsyncDisposableStack();
  const [first, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const recognized: string[] = [];
  const { pool } = jobs.database;
  const words = numbers(150);

  // This recording has several pieces, two of which a worker kept before it stopped.
  const stopping = await openWorker(
    "stopping",
    toneRecognizer({
      async onPiece(piece) {
        recognized.push(piece.join(" "));
        if (recognized.length === 2) await first.promise;
      },
    }),
  );
  const begun = await submit("/begun.wav", words);
  await until(async () => recognized.length === 2);
  const stopped = stopping[Symbol.asyncDispose]();
  first.resolve();
  await stopped;
  assert.equal(await count("transcript_job_piece"), 2);
  await pool.query("update transcript_job set due_at = now() + interval '50 seconds'");

  // One worker has this job, and five short jobs that wait behind another job, which does not end.
  const busy = await submit("/busy.wav", [7, 8]);
  opened.use(await openWorker("busy", gatedRecognizer(recognized, gate.promise)));
  opened.defer(() => gate.resolve());
  await until(async () => recognized.length === 3);
  await pool.query(
    "update transcript_job set due_at = now() where due_at > now() + interval '11 seconds'",
  );
  const short = [11, 12, 13, 14, 15];
  const names = await Promise.all(short.map((word) => submit(`/${word}.wav`, [word, 5])));
  await until(
    async () => (await count("transcript_job where state = 'PROCESSING' and due_at > now()")) === 7,
  );

  opened.use(await openWorker("idle", gatedRecognizer(recognized, Promise.resolve())));
  assert.equal(await textOf(begun), words.join(" "));
  for (const [index, name] of names.entries())
    assert.equal(await textOf(name), `${short[index]} 5`);
  assert.equal((await jobs.get(fixture.account, busy)).state, State.PROCESSING);
  gate.resolve();
  assert.equal(await textOf(busy), "7 8");
  assert.deepEqual(fetched.toSorted(), [...new Set(fetched)].toSorted(), "fetched once");
  assert.deepEqual(recognized.toSorted(), [...new Set(recognized)].toSorted(), "recognized once");
  assert.equal(await count("transcript_job where tries <> 1"), 0, "no attempt is counted");
});

test("a worker does not lease a job that would wait there while another worker is idle", async () => {
  await using opened = new AsyncDisposableStack();
  const { pool } = jobs.database;
  // This simulates a worker that is always idle and never leases a job.
  await pool.query(`alter table idle_worker rename to idle_worker_kept;
    create view idle_worker as select gen_random_uuid() as id, 0 as wanted, now() as seen_at;
    create rule swept as on delete to idle_worker do instead nothing`);
  opened.defer(async () => {
    await pool.query("drop view idle_worker; alter table idle_worker_kept rename to idle_worker");
  });
  const words = [21, 22, 23];
  const names: string[] = [];
  for (const word of words) names.push(await submit(`/${word}.wav`, [word, 5]));
  const gates = words.map(() => Promise.withResolvers<void>());
  const recognized: string[] = [];
  const recognizer = toneRecognizer({
    async onPiece([word = ""]) {
      recognized.push(word);
      await gates[recognized.length - 1]?.promise;
    },
  });
  opened.use(await openWorker("sharing", recognizer));
  opened.defer(() => gates.forEach(({ resolve }) => resolve()));
  for (const [index, gate] of gates.entries()) {
    await until(async () => recognized.length === index + 1);
    const left = words.length - recognized.length;
    assert.equal(await count("transcript_job where state = 'PROCESSING' and lease = 0"), left);
    gate.resolve();
  }
  for (const [index, name] of names.entries())
    assert.equal(await textOf(name), `${words[index]} 5`);
  assert.deepEqual(recognized, words.map(String));
});

test("jobs run even if the database refuses to record which workers are idle", async () => {
  await using opened = new AsyncDisposableStack();
  const { pool } = jobs.database;
  await pool.query(`create function refuse() returns trigger language plpgsql
      as $$ begin raise exception 'away' using errcode = '57P01'; end $$;
    create trigger refused before delete on idle_worker for each row execute function refuse()`);
  opened.defer(async () => {
    await pool.query("drop function refuse cascade; delete from idle_worker");
  });
  await pool.query("truncate idle_worker");
  opened.use(await openWorker("refused", toneRecognizer()));
  await until(async () => (await count("idle_worker")) === 1);
  const name = await submit("/31.wav", [31, 5]);
  assert.equal(await textOf(name), "31 5");
  assert.equal(await count("transcript_job where media_uri like '%/31.wav' and lease <> 1"), 0);
});
