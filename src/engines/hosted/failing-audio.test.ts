// A server recognizes all audio but one recording, which it always answers with an error.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { pino } from "pino";
import { flite, joined, silence } from "../../../test/fixtures/flite.ts";
import { putHostedModel } from "../../../test/fixtures/hosted-model.ts";
import { wavOf } from "../../../test/fixtures/jobs-fixture.ts";
import { openHttpServer } from "../../../test/fixtures/speech-servers.ts";
import { until } from "../../../test/fixtures/until.ts";
import { openWorkerFixture, type WorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { attemptsMax } from "../../database/lease.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { type EnginePool, openEnginePool } from "../pool/engine-pool.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const languageCode = "is-IS";
const key = "the-secret-key";
const short = joined(silence(500), flite("good day"), silence(1500));
const long = joined(
  silence(500),
  flite("good morning and welcome to all of you who are here on this fine day"),
  silence(1500),
);
/** An utterance with more bytes than this is of the long recording. */
const bytesOfShortMax = short.byteLength;
const good = { status: 200, text: '{"text":"Góðan dag."}' };

const logged: Record<string, unknown>[] = [];
/** What the server answers to the long recording. */
let toLong = good;
/** Whether it answers checks with an error too. */
let isAbsent = false;
let calls = 0;
let fixture: WorkerFixture;
let pool: EnginePool;

before(async () => {
  const server = opened.use(
    await openHttpServer((request, response) => {
      let bytes = 0;
      request.on("data", (chunk: Buffer) => (bytes += chunk.length));
      request.on("end", () => {
        if (bytes > 0) calls += 1;
        const { status, text } = bytes > bytesOfShortMax ? toLong : good;
        if (isAbsent) response.writeHead(500).end();
        else response.writeHead(status).end(text);
      });
    }),
  );
  fixture = opened.use(await openWorkerFixture());
  const modelsFolder = join(fixture.folder, "models");
  mkdirSync(modelsFolder);
  const keyFile = join(fixture.folder, "key");
  writeFileSync(keyFile, key);
  putHostedModel(modelsFolder, {
    name: "hosted",
    kind: "openai-transcriptions",
    address: `http://${server.host}/v1`,
    languageCode,
    key: { keyFile },
  });
  pool = opened.use(
    await openEnginePool({
      engine: "auto",
      only: "hosted",
      processes: 1,
      modelsFolder,
      voiceActivity: "energy",
      log: pino(
        { base: null, messageKey: "event" },
        { write: (line: string) => void logged.push(JSON.parse(line)) },
      ),
    }),
  );
  opened.use(await fixture.jobs.openWorker(pool));
});

/** Returns the counted attempts once this many have ended, and how long the job then waits. */
async function untilWaiting(name: string, attempts: number) {
  let row: { tries: number; waitMs: number } | undefined;
  await until(async () => {
    const { rows } = await fixture.jobs.database.pool.query(
      `select tries, (extract(epoch from due_at - now()) * 1000)::float8 as "waitMs"
       from transcript_job where id = $1 and state = 'PROCESSING' and lease = $2`,
      // Taking a job and releasing it both change its lease.
      [name.split("/")[1], 2 * attempts],
    );
    [row] = rows;
    return row !== undefined;
  });
  assert.ok(row);
  return row;
}

/** Lets the next attempt begin. */
async function attemptNow(name: string): Promise<void> {
  const { pool: database } = fixture.jobs.database;
  await database.query("update transcript_job set due_at = now() where id = $1", [
    name.split("/")[1],
  ]);
}

/** Submits the long recording, asserts that each attempt counts, and returns how the job ends. */
async function endOfLong() {
  const name = await fixture.submit("/long.wav", wavOf(long), languageCode);
  for (let attempts = 1; attempts < attemptsMax; attempts++) {
    const { tries, waitMs } = await untilWaiting(name, attempts);
    assert.equal(tries, attempts);
    assert.ok(waitMs > 50_000, `the next attempt is after ${waitMs} ms`);
    await attemptNow(name);
  }
  return await fixture.jobs.ended(fixture.account, name);
}

test("a recording that a server answers with an error ends its job, and no stream moves", async () => {
  const rows = [
    [{ status: 500, text: `{"error":"CUDA error with ${key}"}` }, "500"],
    [{ status: 200, text: "<html>" }, "it cannot be read"],
    [{ status: 400, text: '{"error":"no speech in it"}' }, "400"],
  ] as const;
  for (const [answer, shown] of rows) {
    toLong = answer;
    const job = await endOfLong();
    assert.equal(job.state, State.ERROR);
    assert.equal(
      job.error?.message,
      `the server of the speech model answers this audio with an error: ${shown}`,
    );
    const [info] = job.error?.details ?? [];
    assert.ok(info);
    assert.equal(anyUnpack(info, ErrorInfoSchema)?.reason, "ENGINE_FAILED");
  }
  const name = await fixture.submit("/short.wav", wavOf(short), languageCode);
  const job = await fixture.jobs.ended(fixture.account, name);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
  assert.equal((await fixture.transcriptOf(job)).text, "Góðan dag.");
  // A stream moves when its model is absent, or its process fails again and again.
  assert.deepEqual(
    logged.filter(({ event }) => event === "engine.absent" || event === "engine.failing"),
    [],
  );
});

test("errors of a server that does not pass its check either are those of its absence, and no attempt counts", async () => {
  toLong = good;
  isAbsent = true;
  const name = await fixture.submit("/absent.wav", wavOf(long), languageCode);
  for (let attempts = 1; attempts <= attemptsMax + 1; attempts++) {
    assert.equal((await untilWaiting(name, attempts)).tries, 0);
    await attemptNow(name);
  }
  isAbsent = false;
  const job = await fixture.jobs.ended(fixture.account, name);
  assert.equal(job.state, State.SUCCESS, job.error?.message);
});

test("a stream whose audio the server refuses ends at once, with the status", async () => {
  toLong = { status: 400, text: '{"error":"no speech in it"}' };
  calls = 0;
  const options = { languageCode, mode: "live", sampleRateHertz: 16_000 } as const;
  await assert.rejects(Array.fromAsync(pool.recognize([long], options)), {
    name: "ServiceError",
    code: "internal",
    reason: "ENGINE_FAILED",
    message: "the server of the speech model answers this audio with an error: 400",
  });
  // Another process would call the same server.
  assert.equal(calls, 1);
});
