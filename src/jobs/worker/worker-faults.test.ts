import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import type { Kysely, Transaction } from "kysely";
import { countQueues } from "../../../test/fixtures/counted-queues.ts";
import {
  jobRequest,
  serveMedia,
  toneRecognizer,
  toneWav,
} from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Tables } from "../../database/tables.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import {
  CancelTranscriptJobRequestSchema,
  TranscriptJob_State as State,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../../std/service-error.ts";

let fixture: WorkerFixture;
let jobs: WorkerFixture["jobs"];
let submit: WorkerFixture["submit"];
let transcriptOf: WorkerFixture["transcriptOf"];
let account = "";

before(async () => {
  fixture = await openWorkerFixture();
  ({ jobs, submit, transcriptOf, account } = fixture);
});

after(() => fixture[Symbol.asyncDispose]());

test("a job with media that cannot be fetched ends as ERROR with the reason, and leaves nothing behind", async () => {
  const tones = toneWav(numbers(10));
  const closed = await serveMedia(() => {});
  await closed[Symbol.asyncDispose]();
  const rows: readonly (readonly [string, Buffer | RequestListener | undefined, number, RegExp])[] =
    [
      ["/missing", undefined, 5, /answered 404 Not Found/],
      ["/empty", (_, response) => response.end(), 3, /empty/],
      ["/reset", (request) => request.socket.resetAndDestroy(), 14, /closed the connection/],
      [
        "/short",
        (_, response) => {
          response.writeHead(200, { "content-length": tones.length });
          response.write(tones.subarray(0, 1_000), () => response.destroy());
        },
        14,
        /broke after 1000 of \d+ bytes/,
      ],
      [
        "/gzip",
        (_, response) => response.setHeader("content-encoding", "gzip").end("x"),
        9,
        /compressed/,
      ],
      [
        "/inside",
        (_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end(),
        9,
        /not public/,
      ],
      [
        "/large",
        (_, response) => response.writeHead(200, { "content-length": 1e12 }).write("x"),
        11,
        /larger/,
      ],
    ];
  await using _worker = await jobs.openWorker(toneRecognizer());
  const names = await Promise.all(rows.map(async ([path, answer]) => await submit(path, answer)));
  const refusedName = await jobs.submit(account, jobRequest(closed.url));
  for (const [index, [path, , code, message]] of rows.entries()) {
    const job = await jobs.ended(account, names[index] ?? "");
    assert.equal(job.state, State.ERROR, path);
    assert.equal(job.error?.code, code, `${path}: ${job.error?.message}`);
    assert.match(job.error?.message ?? "", message, path);
    assert.equal(job.error?.message.includes(fixture.folder), false);
    assert.equal(job.transcript, undefined);
  }
  const refused = await jobs.ended(account, refusedName);
  assert.match(refused.error?.message ?? "", /refused the connection/);
  await fixture.isTidy();
});

test("a worker that stops releases its job, and the next worker continues from the kept pieces", async () => {
  const recognized: string[] = [];
  const words = numbers(200);
  const gate = Promise.withResolvers<void>();
  const slow = toneRecognizer({
    async onPiece(piece) {
      recognized.push(piece.join(" "));
      if (recognized.length === 2) await gate.promise;
    },
  });
  const { queues, valueOf } = countQueues();
  const recorder = queues.jobs("transcript");
  const first = await jobs.openWorker(slow, { parallelism: 1, recorder });
  const name = await submit("/handed.wav", toneWav(words));
  await until(async () => recognized.length === 2);
  const stopped = first[Symbol.asyncDispose]();
  gate.resolve();
  await stopped;
  assert.equal(recognized.length, 2, "it waits for the current piece, not for the rest");
  assert.equal(await valueOf("hlust_job_attempts_ended_total", { result: "released" }), 1);
  assert.deepEqual(await readdir(jobs.scratchFolder), []);
  await using _second = await jobs.openWorker(slow, { parallelism: 1 });
  const job = await jobs.ended(account, name);
  assert.equal((await transcriptOf(job)).text, words.join(" "));
  assert.equal(new Set(recognized).size, recognized.length, "no piece was recognized twice");
  assert.equal(await attemptsOf(name), 1);
});

test("a piece is retried after a lost engine, and the job fails if the engine remains unavailable", async () => {
  const failing = (failures: number, error: () => Error): Recognizer & { count: number } => {
    const tone = toneRecognizer();
    const recognizer = {
      ...tone,
      count: 0,
      recognize(...parameters: Parameters<Recognizer["recognize"]>) {
        if (recognizer.count++ < failures) throw error();
        return tone.recognize(...parameters);
      },
    };
    return recognizer;
  };
  const lost = (): Error => new ServiceError("unavailable", "the engine process was lost");
  const busy = (): Error => new ServiceError("resource_exhausted", "all engines are busy");
  const missing = (): Error => {
    const options = { reason: "NO_ENGINE", retryAfterMs: 10 };
    return new ServiceError("unavailable", "no speech engine is ready", options);
  };
  const bug = (): Error => new TypeError("undefined is not a function");
  const rows: readonly (readonly [number, () => Error, State, RegExp])[] = [
    [2, lost, State.SUCCESS, /^$/],
    [4, busy, State.SUCCESS, /^$/],
    [4, lost, State.SUCCESS, /^$/],
    // The job waits for an engine, however many attempts that takes.
    [12, missing, State.SUCCESS, /^$/],
    [2, bug, State.SUCCESS, /^$/],
    [99, lost, State.ERROR, /^the engine process was lost$/],
    [99, bug, State.ERROR, /^the service failed on this recording/],
  ];
  for (const [failures, error, state, message] of rows) {
    await using _worker = await jobs.openWorker(failing(failures, error));
    const job = await jobs.ended(account, await submit("/engine.wav", toneWav([11, 12])));
    assert.equal(job.state, state, `${failures} times ${error().message}`);
    assert.match(job.error?.message ?? "", message);
  }
});

test("a worker continues after the database was unavailable", async () => {
  const words = numbers(150);
  const slow = toneRecognizer({ pieceMs: 500 });
  await using _worker = await jobs.openWorker(slow, { parallelism: 1 });
  const name = await submit("/away.wav", toneWav(words));
  await until(async () => ((await jobs.get(account, name)).progressPercent ?? 0) > 0);
  await jobs.database.pool.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend' and application_name = 'hlust'",
  );
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS);
  assert.equal((await transcriptOf(job)).text, words.join(" "));
});

/**
 * Returns the database with a connection that breaks once, after a statement with such a row was
 * executed.
 */
function losingAnswer(isLost: (row: object) => boolean): {
  db: Kysely<Tables>;
  lost: () => number;
} {
  let lost = 0;
  const db = jobs.database.db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      if (lost > 0 || !result.rows.some((row) => isLost(row))) return result;
      lost++;
      throw connectionLost();
    },
  });
  return { db, lost: () => lost };
}

function connectionLost(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}

async function attemptsOf(name: string): Promise<number> {
  const job = jobs.database.db.selectFrom("transcript_job").select("tries");
  return (await job.where("id", "=", name.split("/")[1] ?? "").executeTakeFirstOrThrow()).tries;
}

test("a job whose lease was not confirmed to the worker is leased again when the lease ends", async () => {
  const { db, lost } = losingAnswer((row) => "media_uri" in row);
  await using _worker = await jobs.openWorker(toneRecognizer(), { db });
  const name = await submit("/begun.wav", toneWav([11, 12]));
  const job = await jobs.ended(account, name);
  assert.equal(lost(), 1);
  assert.equal(job.state, State.SUCCESS);
  assert.equal(await attemptsOf(name), 2);
});

/** Submits jobs whose worker seems to have died twice. */
async function submitSuspects(...paths: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const path of paths) names.push(await submit(path, toneWav(numbers(200))));
  await jobs.database.pool.query("update transcript_job set tries = 2 where state = 'PROCESSING'");
  return names;
}

test("a job at its last attempt continues after the database was unavailable", async () => {
  let isLost = false;
  const db = jobs.database.db.withPlugin({
    transformQuery({ node }) {
      if (isLost || !JSON.stringify(node).includes("is_cleared")) return node;
      isLost = true;
      throw connectionLost();
    },
    transformResult: async ({ result }) => result,
  });
  const [name = ""] = await submitSuspects("/last.wav");
  await using _worker = await jobs.openWorker(toneRecognizer(), {
    parallelism: 1,
    db,
  });
  const job = await jobs.ended(account, name);
  assert.ok(isLost);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
});

/** Returns the database with a connection that breaks at the first release of a lease. */
function losingRelease(): { db: Kysely<Tables>; lost: () => number } {
  let lost = 0;
  const db = jobs.database.db.withPlugin({
    transformQuery({ node }) {
      if (lost > 0 || !JSON.stringify(node).includes("set lease = lease + 1, due_at")) return node;
      lost++;
      throw connectionLost();
    },
    transformResult: async ({ result }) => result,
  });
  return { db, lost: () => lost };
}

test("a worker that stops releases its job, even if the database is unavailable at first", async () => {
  const { db, lost } = losingRelease();
  const begun = Promise.withResolvers<void>();
  const recognizer = toneRecognizer({ pieceMs: 50, onPiece: () => begun.resolve() });
  const worker = await jobs.openWorker(recognizer, { db, parallelism: 1 });
  const name = await submit("/stopped.wav", toneWav(numbers(200)));
  await begun.promise;
  await worker[Symbol.asyncDispose]();
  assert.equal(lost(), 1);
  assert.equal(await attemptsOf(name), 0);
  const waiting = await jobs.database.pool.query(
    "select from transcript_job where state = 'PROCESSING' and due_at <= now()",
  );
  assert.equal(waiting.rows.length, 1);
  await jobs.service.cancelTranscriptJob(
    create(CancelTranscriptJobRequestSchema, { name }),
    jobs.call(account),
  );
});

test("a job that has to run alone begins, even if the database was unavailable when another job was put off", async () => {
  const { db, lost } = losingRelease();
  const names = await submitSuspects("/alone.wav", "/put-off.wav");
  await using _worker = await jobs.openWorker(toneRecognizer(), { db });
  const ended = await Promise.all(names.map(async (name) => await jobs.ended(account, name)));
  assert.equal(lost(), 1);
  assert.deepEqual(
    ended.map(({ state }) => state),
    [State.SUCCESS, State.SUCCESS],
  );
});

test("a job continues with its fetched media if the response to recording the media was lost", async () => {
  let isLost = false;
  const { db: real } = jobs.database;
  // The first transaction of a job records its media.
  const execute = async (
    work: (trx: Transaction<Tables>) => Promise<unknown>,
  ): Promise<unknown> => {
    const result = await real.transaction().execute(work);
    if (isLost) return result;
    isLost = true;
    throw connectionLost();
  };
  const db = new Proxy(real, {
    get(target, name) {
      if (name === "transaction") return () => ({ execute });
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  await using _worker = await jobs.openWorker(toneRecognizer(), { db });
  const name = await submit("/recorded.wav", toneWav([11, 12]));
  const job = await jobs.ended(account, name);
  assert.ok(isLost);
  assert.equal(job.state, State.SUCCESS);
  assert.equal(await attemptsOf(name), 1);
  await fixture.isTidy();
});
