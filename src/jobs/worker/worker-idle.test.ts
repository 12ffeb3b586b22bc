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
/** Paths of the media server, once for each time that one was fetched. */
const fetched: string[] = [];

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

/** Notes the pieces, each by its words, and holds them up until the gate opens. */
function gatedRecognizer(heard: string[], gate: Promise<void>): Recognizer {
  return toneRecognizer({
    async onPiece(words) {
      heard.push(words.join(" "));
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

test("what waits behind a job goes to a worker that stands idle, and goes on where it was", async () => {
  await using opened = new AsyncDisposableStack();
  const [first, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const heard: string[] = [];
  const { pool } = jobs.database;
  const words = numbers(150);

  // A recording of several pieces, of which a worker that stops has kept two.
  const stopping = await openWorker(
    "stopping",
    toneRecognizer({
      async onPiece(piece) {
        heard.push(piece.join(" "));
        if (heard.length === 2) await first.promise;
      },
    }),
  );
  const begun = await submit("/begun.wav", words);
  await until(async () => heard.length === 2);
  const stopped = stopping[Symbol.asyncDispose]();
  first.resolve();
  await stopped;
  assert.equal(await count("transcript_job_piece"), 2);
  await pool.query("update transcript_job set due_at = now() + interval '50 seconds'");

  // One worker has it and five short ones waiting behind another one, which does not end.
  const busy = await submit("/busy.wav", [7, 8]);
  opened.use(await openWorker("busy", gatedRecognizer(heard, gate.promise)));
  opened.defer(() => gate.resolve());
  await until(async () => heard.length === 3);
  await pool.query(
    "update transcript_job set due_at = now() where due_at > now() + interval '11 seconds'",
  );
  const short = [11, 12, 13, 14, 15];
  const names = await Promise.all(short.map((word) => submit(`/${word}.wav`, [word, 5])));
  await until(
    async () => (await count("transcript_job where state = 'PROCESSING' and due_at > now()")) === 7,
  );

  opened.use(await openWorker("idle", gatedRecognizer(heard, Promise.resolve())));
  assert.equal(await textOf(begun), words.join(" "));
  for (const [index, name] of names.entries())
    assert.equal(await textOf(name), `${short[index]} 5`);
  assert.equal((await jobs.get(fixture.account, busy)).state, State.PROCESSING);
  gate.resolve();
  assert.equal(await textOf(busy), "7 8");
  assert.deepEqual(fetched.toSorted(), [...new Set(fetched)].toSorted(), "fetched once");
  assert.deepEqual(heard.toSorted(), [...new Set(heard)].toSorted(), "recognized once");
  assert.equal(await count("transcript_job where tries <> 1"), 0, "no try is counted");
});

test("a worker takes nothing that would wait with it, while another one stands idle", async () => {
  await using opened = new AsyncDisposableStack();
  const { pool } = jobs.database;
  // One that always does, and never takes anything.
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
  const heard: string[] = [];
  const recognizer = toneRecognizer({
    async onPiece([word = ""]) {
      heard.push(word);
      await gates[heard.length - 1]?.promise;
    },
  });
  opened.use(await openWorker("sharing", recognizer));
  opened.defer(() => gates.forEach(({ resolve }) => resolve()));
  for (const [index, gate] of gates.entries()) {
    await until(async () => heard.length === index + 1);
    const left = words.length - heard.length;
    assert.equal(await count("transcript_job where state = 'PROCESSING' and lease = 0"), left);
    gate.resolve();
  }
  for (const [index, name] of names.entries())
    assert.equal(await textOf(name), `${words[index]} 5`);
  assert.deepEqual(heard, words.map(String));
});

test("jobs that are taken while the database refuses what idle workers tell are worked on all the same", async () => {
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
