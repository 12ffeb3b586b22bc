import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { create } from "@bufbuild/protobuf";
import { jobRequest, serveMedia, toneRecognizer, toneWav, wavOf } from "../../test/jobs-fixture.ts";
import { numbers, openWorkerFixture, type WorkerFixture } from "../../test/worker-fixture.ts";
import { until } from "../../test/until.ts";
import type { Recognizer } from "../engines/recognizer.ts";
import {
  CancelTranscriptJobRequestSchema,
  TranscriptJob_State as State,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../std/service-error.ts";

const run = promisify(execFile);

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

test("bad media ends a job as FAILED with a reason in words, and leaves nothing behind", async () => {
  const tones = toneWav(numbers(10));
  const file = join(fixture.folder, "tones.wav");
  await run("ffmpeg", [
    "-v",
    "error",
    "-f",
    "lavfi",
    "-i",
    "testsrc=d=1:s=64x64",
    join(fixture.folder, "v.mp4"),
  ]);
  await writeFile(file, tones);
  await run("ffmpeg", ["-v", "error", "-i", file, join(fixture.folder, "a.m4a")]);
  const m4a = await readFile(join(fixture.folder, "a.m4a"));
  const closed = await serveMedia(() => {});
  await closed[Symbol.asyncDispose]();
  const rows: readonly (readonly [string, Buffer | RequestListener | undefined, number, RegExp])[] =
    [
      ["/missing", undefined, 5, /answered 404 Not Found/],
      ["/empty", (_, response) => response.end(), 3, /empty/],
      ["/reset", (request) => request.socket.resetAndDestroy(), 14, /broke the connection off/],
      [
        "/short",
        (_, response) => {
          response.writeHead(200, { "content-length": tones.length });
          response.write(tones.subarray(0, 1_000), () => response.destroy());
        },
        14,
        /broke after 1000 of \d+ bytes/,
      ],
      ["/page.wav", Buffer.from("<!doctype html><title>Sign in</title>"), 3, /web page/],
      ["/list.wav", Buffer.from("#EXTM3U\ntones.wav\n"), 3, /playlist/],
      [
        "/concat.wav",
        Buffer.from(`ffconcat version 1.0\nfile ${file}\n`),
        3,
        /playlist, not a recording/,
      ],
      [
        "/concat2.wav",
        Buffer.from(`#\nffconcat version 1.0\nfile ${file}\n`),
        3,
        /not a recording/,
      ],
      ["/paper", Buffer.from("%PDF-1.4\n%..."), 3, /PDF/],
      ["/text", Buffer.from("Once upon a time.".repeat(50)), 3, /not a recording/],
      ["/cut.m4a", m4a.subarray(0, m4a.length / 2), 15, /cut short/],
      ["/cut.wav", tones.subarray(0, 40_000), 15, /cut short/],
      ["/silent.mp4", await readFile(join(fixture.folder, "v.mp4")), 3, /no audio stream/],
      ["/none.wav", wavOf(new Int16Array(0)), 3, /0 s of audio/],
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
    assert.equal(job.state, State.FAILED, path);
    assert.equal(job.error?.code, code, `${path}: ${job.error?.message}`);
    assert.match(job.error?.message ?? "", message, path);
    assert.equal(job.error?.message.includes(fixture.folder), false);
    assert.equal(job.transcript, undefined);
  }
  const refused = await jobs.ended(account, refusedName);
  assert.match(refused.error?.message ?? "", /refused the connection/);
  await fixture.isTidy();
});

test("a cancelled job stops within two seconds and leaves nothing behind", async () => {
  let pieces = 0;
  const recognizer = toneRecognizer({ pieceMs: 60_000, onPiece: () => void pieces++ });
  await using _worker = await jobs.openWorker(recognizer);
  const name = await submit("/long.wav", toneWav(numbers(200)));
  await until(async () => pieces === 2);
  const request = create(CancelTranscriptJobRequestSchema, { name });
  await jobs.service.cancelTranscriptJob(request, jobs.call(account));
  const cancelledAt = Date.now();
  await until(async () => (await readdir(jobs.scratchFolder)).length === 0);
  assert.ok(Date.now() - cancelledAt < 2_000, `${Date.now() - cancelledAt} ms`);
  await fixture.isTidy();
  const { state, error } = await jobs.get(account, name);
  assert.equal(state, State.FAILED);
  assert.equal(error?.code, 1);
});

test("a worker that stops gives its job back, and the next one goes on from the pieces that are kept", async () => {
  const heard: string[] = [];
  const words = numbers(200);
  const slow = toneRecognizer({
    pieceMs: 300,
    onPiece: (piece) => void heard.push(piece.join(" ")),
  });
  const first = await jobs.openWorker(slow, { parallelism: 1 });
  const name = await submit("/handed.wav", toneWav(words));
  await until(async () => heard.length === 2);
  const stoppedAt = performance.now();
  await first[Symbol.asyncDispose]();
  assert.ok(performance.now() - stoppedAt < 3_000);
  assert.deepEqual(await readdir(jobs.scratchFolder), []);
  await using _second = await jobs.openWorker(slow, { parallelism: 1 });
  const job = await jobs.ended(account, name);
  assert.equal((await transcriptOf(job)).text, words.join(" "));
  assert.equal(new Set(heard).size, heard.length, "no piece was recognised twice");
  const { tries } = await jobs.database.db
    .selectFrom("transcript_job")
    .where("id", "=", name.split("/")[1] ?? "")
    .select("tries")
    .executeTakeFirstOrThrow();
  assert.equal(tries, 1);
});

test("an engine that is lost is tried again; a job fails when it stays lost", async () => {
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
  const bug = (): Error => new TypeError("undefined is not a function");
  const rows: readonly (readonly [number, () => Error, State, RegExp])[] = [
    [2, lost, State.SUCCESS, /^$/],
    [4, busy, State.SUCCESS, /^$/],
    [4, lost, State.SUCCESS, /^$/],
    [2, bug, State.SUCCESS, /^$/],
    [99, lost, State.FAILED, /^the engine process was lost$/],
    [99, bug, State.FAILED, /^the service failed on this recording/],
  ];
  for (const [failures, error, state, message] of rows) {
    await using _worker = await jobs.openWorker(failing(failures, error));
    const job = await jobs.ended(account, await submit("/engine.wav", toneWav([11, 12])));
    assert.equal(job.state, state, `${failures} times ${error().message}`);
    assert.match(job.error?.message ?? "", message);
  }
});

test("a worker goes on when the database was away", async () => {
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
