import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { pino } from "pino";
import {
  jobRequest,
  toneModel,
  toneRecognizer,
  toneWav,
  wavOf,
} from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import {
  TranscriptJob_State as State,
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadata_FileType as FileType,
  type TranscriptJob,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { findOutputs, readOutputs } from "../../media/media-outputs.ts";
import { insertMedia } from "../../media/media-records.ts";
import { msOfDuration } from "../../std/duration.ts";
import { newId } from "../../std/ids.ts";
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

test("a job becomes a transcript with every word once, in order and with correct times", async () => {
  await using _worker = await jobs.openWorker(toneRecognizer());
  const words = numbers(180);
  const name = await submit("/tone.wav", toneWav(words));
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS);
  assert.equal(job.progressPercent, 100);
  assert.equal(job.error, undefined);
  const { text, segments, metadata, media, words: spoken } = await transcriptOf(job);
  assert.equal(text, words.join(" "));
  const { recordingDuration } = metadata;
  assert.ok(recordingDuration);
  const durationMs = msOfDuration(recordingDuration);
  assert.equal(durationMs, 250 + 180 * 550);
  assert.deepEqual(job.transcriptMetadata?.recordingDuration, recordingDuration);
  assert.equal(metadata.originalSource.value, `${fixture.url}/tone.wav`);
  assert.equal(metadata.dataSource, DataSource.URI);
  assert.equal(metadata.originalCharLength, text.length);
  for (const [index, word] of spoken.entries()) {
    const start = word.startTime ? msOfDuration(word.startTime) : -1;
    assert.ok(Math.abs(start - (250 + index * 550)) <= 10, `${word.word}: ${start}`);
  }
  let at = 0;
  for (const { startTime, endTime } of segments) {
    assert.ok(startTime && endTime && msOfDuration(startTime) >= at);
    at = msOfDuration(endTime);
  }
  assert.ok(at <= durationMs);
  assert.equal(await jobs.store.sizeBytes(media?.id ?? ""), toneWav(words).length);
  const rows = jobs.database.db.selectFrom("media").where("id", "=", media?.id ?? "");
  const { sha256 } = await rows.select("sha256").executeTakeFirstOrThrow();
  assert.deepEqual(sha256, createHash("sha256").update(toneWav(words)).digest());
  await fixture.isTidy();
});

test("progress rises within a piece each second, as the engine reports it, and never falls", async () => {
  const tones = toneRecognizer();
  // The engine of the first attempt is lost after 15 of 22 seconds. The second attempt processes
  // these seconds again.
  const attempts = [
    [5_000, 15_000],
    [3_000, 20_000],
  ];
  const steps: PromiseWithResolvers<void>[] = [];
  const recognizer: Recognizer = {
    ...tones,
    async *recognize(input, options) {
      const processed = attempts.shift() ?? [];
      for (const ms of processed) {
        options.onProgress?.(ms);
        const step = Promise.withResolvers<void>();
        steps.push(step);
        options.signal?.addEventListener("abort", () => step.reject(options.signal?.reason));
        await step.promise;
      }
      if (attempts.length > 0) throw new ServiceError("unavailable", "the engine process was lost");
      yield* tones.recognize(input, options);
    },
  };
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const log = pino({ base: null, messageKey: "event" }, { write });
  await using _worker = await jobs.openWorker(recognizer, { parallelism: 1, log });
  const name = await submit("/slow.wav", toneWav(numbers(40)));
  const id = name.split("/")[1] ?? "";
  const totalMs = 250 + 40 * 550;
  let before = await jobs.get(account, name);
  for (const [at, ms] of [5_000, 15_000, 15_000, 20_000].entries()) {
    await until(() => Promise.resolve(steps.length > at));
    await beat(id);
    const job = await jobs.get(account, name);
    const percent = Math.floor((ms / totalMs) * 100);
    assert.deepEqual([job.state, job.progressPercent], [State.PROCESSING, percent]);
    const hasMoved = percent > (before.progressPercent ?? 0);
    assert.equal(timeOf(job) > timeOf(before), hasMoved, "lastUpdatedTime moves with it");
    before = job;
    steps[at]?.resolve();
  }
  const job = await jobs.ended(account, name);
  assert.deepEqual([job.state, job.progressPercent], [State.SUCCESS, 100]);
  assert.ok(timeOf(job) >= timeOf(before));
  const logged = lines.filter(({ event }) => event === "job.progress");
  assert.ok(logged.length >= 1 && logged.length <= 4, JSON.stringify(logged));
  for (const { jobId, recognizedSeconds, ofSeconds, speed, secondsLeft, ...rest } of logged) {
    assert.deepEqual([jobId, ofSeconds], [id, Math.round(totalMs / 1000)]);
    // A lease may be extended between the last piece and the end of the job.
    const figures = [recognizedSeconds, speed, secondsLeft].map(Number);
    assert.ok(
      figures.every((each) => each >= 0),
      figures.join(),
    );
    assert.deepEqual(Object.keys(rest).toSorted(), ["event", "level", "time"], "and no speech");
  }
});

/**
 * Resolves when a job's worker has extended its lease twice, and has therefore written the current
 * progress.
 */
async function beat(id: string): Promise<void> {
  const last = async (): Promise<string> => {
    const query = "select due_at::text as at from transcript_job where id = $1";
    const { rows } = await jobs.database.pool.query<{ at: string }>(query, [id]);
    return rows[0]?.at ?? "";
  };
  for (let count = 0; count < 2; count++) {
    const before = await last();
    await until(async () => (await last()) > before);
  }
}

/** Returns the lastUpdatedTime of a job in milliseconds. */
function timeOf({ lastUpdatedTime }: TranscriptJob): number {
  return Number(lastUpdatedTime?.seconds) * 1000 + (lastUpdatedTime?.nanos ?? 0) / 1e6;
}

test("a recording of silence ends as SUCCESS with an empty transcript", async () => {
  await using _worker = await jobs.openWorker(toneRecognizer());
  const name = await submit("/silence.wav", wavOf(new Int16Array(64_000)));
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS);
  const { segments, metadata } = await transcriptOf(job);
  assert.deepEqual(segments, []);
  assert.equal(metadata.recordingDuration && msOfDuration(metadata.recordingDuration), 4_000);
});

test("an upload is transcribed, and without keepMedia its media is then deleted", async () => {
  const upload = async (): Promise<string> => {
    const [id, mediaId] = [newId(), newId()];
    const bytes = toneWav([7, 8, 9]);
    const stored = await jobs.store.put(mediaId, single(bytes), { bytesMax: 1e6 });
    await jobs.database.db
      .transaction()
      .execute(async (trx) => insertMedia(trx, { id: mediaId, accountId: account, ...stored }));
    await jobs.database.db
      .insertInto("upload")
      .values({
        id,
        account_id: account,
        transcript_id: null,
        expires_at: new Date(),
        media_id: mediaId,
      })
      .execute();
    return `uploads/${id}`;
  };
  for (const keepMedia of [true, false]) {
    const tones = toneRecognizer();
    const recognize: Recognizer["recognize"] = (input, options) => {
      assert.equal(options.onOutputs !== undefined, keepMedia);
      return tones.recognize(input, options);
    };
    await using _worker = await jobs.openWorker({ ...tones, recognize }, { keepMedia });
    const uri = await upload();
    const metadata = { languageCode: "en-US", fileType: FileType.VIDEO };
    const job = await jobs.ended(
      account,
      await jobs.submit(account, { metadata, useUri: false, uri }),
    );
    const { text, media, metadata: made } = await transcriptOf(job);
    assert.equal(text, "7 8 9");
    assert.equal(made.dataSource, DataSource.UPLOAD);
    assert.equal(made.originalSource.case, undefined);
    assert.equal(media.id !== undefined, keepMedia);
    assert.equal(media.hasWaveform, keepMedia);
    const outputs = await jobs.database.db.selectFrom("media_outputs").selectAll().execute();
    assert.equal(
      outputs.some(({ media_id: id }) => id === media.id),
      keepMedia,
    );
    assert.equal(made.fileType, FileType.VIDEO, "what was declared");
    assert.equal(media.fileType, "AUDIO", "what its streams are is shown in its place");
  }
  await fixture.isTidy();
});

test("outputs are kept with the media that they belong to, unless they are too many", async () => {
  const { db } = jobs.database;
  for (const [copies, areKept] of [
    [1, true],
    [500, false],
  ] as const) {
    const tones = toneRecognizer();
    const recognizer: Recognizer = {
      ...tones,
      recognize: (input, { onOutputs, ...options }) =>
        tones.recognize(input, {
          ...options,
          ...(onOutputs && {
            onOutputs: ({ model, bytes }) =>
              onOutputs({ model, bytes: Buffer.concat(Array<Uint8Array>(copies).fill(bytes)) }),
          }),
        }),
    };
    await using _worker = await jobs.openWorker(recognizer);
    for (const words of [[4, 2], numbers(80)]) {
      const name = await submit(`/${words.length}.wav`, toneWav(words));
      const { media } = await transcriptOf(await jobs.ended(account, name));
      assert.ok(media.id !== undefined);
      const outputs = await findOutputs(db, media.id, toneModel);
      assert.equal(outputs !== undefined, areKept, `${copies} ${words.length}`);
      if (!outputs) continue;
      assert.equal(outputs.durationMs, media.durationMs);
      const parts = await readOutputs(db, outputs, { startMs: 0, endMs: outputs.durationMs });
      assert.equal(
        Buffer.concat(parts.map(({ bytes }) => bytes)).toString(),
        `${words.join(" ")} `,
      );
    }
  }
});

async function* single(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

test("a job in a language without a model on this worker fails with a list of the installed languages", async () => {
  const recognizer: Recognizer = { ...toneRecognizer(), languageCodes: () => ["is-IS"] };
  await using _worker = await jobs.openWorker(recognizer);
  const job = await jobs.ended(account, await submit("/language.wav", toneWav([11])));
  assert.equal(job.error?.code, 9);
  assert.match(job.error?.message ?? "", /"en-US" has no installed model; installed: is-IS/);
});

test("the only job of one account is not delayed by many jobs of another", async () => {
  const order: string[] = [];
  const recognizer = toneRecognizer({
    pieceMs: 30,
    onPiece: (words) => void order.push(words[0] ?? ""),
  });
  const flood = toneWav([20]);
  const names = [];
  for (let i = 0; i < 15; i++) names.push(await submit("/flood.wav", flood));
  const other = await jobs.addAccount();
  await submit("/single.wav", toneWav([50]));
  const single = await jobs.submit(other, jobRequest(`${fixture.url}/single.wav`));
  await using _worker = await jobs.openWorker(recognizer, { parallelism: 1 });
  await jobs.ended(other, single);
  // Three jobs run concurrently: one is recognized, and two fetch their media.
  assert.ok(order.indexOf("50") <= 5, order.join());
  await Promise.all(names.map(async (name) => await jobs.ended(account, name)));
});
