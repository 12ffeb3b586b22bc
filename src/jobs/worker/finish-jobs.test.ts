import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../../std/ids.ts";
import { metadataOf } from "../../transcripts/metadata-text.ts";
import { transcriptRows } from "../../transcripts/insert-transcript.ts";
import { LeaseLost } from "../../database/lease.ts";
import { createFinish, type FinishedJob } from "./finish-jobs.ts";
import { leaseJobs } from "./lease-jobs.ts";

let fixture: WorkerFixture;

before(async () => {
  fixture = await openWorkerFixture();
});

after(() => fixture[Symbol.asyncDispose]());

test("a job that lost its lease does not affect the other jobs that end in the same batch", async () => {
  const { jobs, account } = fixture;
  const { db } = jobs.database;
  const names: string[] = [];
  for (let i = 0; i < 3; i++) names.push(await fixture.submit("/never-fetched.wav"));
  const leased = await leaseJobs(db, { passedOver: [], countMax: 8 });
  assert.deepEqual(
    leased.map(({ attempts }) => attempts),
    [1, 1, 1],
  );
  const lost = leased[1]?.lease.id ?? assert.fail();
  await db.updateTable("transcript_job").set({ lease: 2 }).where("id", "=", lost).execute();
  const finish = createFinish(db);
  const ends = leased.map(async ({ lease, metadataText }): Promise<void> => {
    const transcriptId = newId();
    const rows = await transcriptRows({
      id: transcriptId,
      accountId: account,
      metadata: metadataOf(metadataText),
      segments: [],
      kind: "RECOGNIZED",
    });
    const success = { lease, transcriptId, durationMs: 1_000, model: "tones", keepsMedia: false };
    const job: FinishedJob = { success, hasPieces: false, result: rows, media: undefined };
    await finish.add(job);
  });
  const settled = await Promise.allSettled(ends);
  const failed = settled.filter((each) => each.status === "rejected");
  assert.equal(failed.length, 1);
  assert.ok(failed[0]?.reason instanceof LeaseLost);
  const ended = await db.selectFrom("transcript_job").select(["id", "state"]).execute();
  for (const { id, state } of ended) {
    assert.equal(state, id === lost ? "PROCESSING" : "SUCCESS");
  }
  const transcripts = await db.selectFrom("transcript").select("id").execute();
  assert.equal(transcripts.length, 2);
  const [due] = await leaseJobs(db, { passedOver: [], countMax: 8 });
  assert.equal(due, undefined, "the lost one is still leased, the others are done");
  await db.deleteFrom("transcript_job").where("id", "=", lost).execute();
});

test("many concurrent short jobs each get their own transcript, waveform and hash", async () => {
  const { jobs, account, submit, transcriptOf } = fixture;
  await using _worker = await jobs.openWorker(toneRecognizer());
  const hashOf = async (mediaId: string | null): Promise<string | undefined> => {
    const media = jobs.database.db.selectFrom("media").where("id", "=", mediaId ?? "");
    const { sha256 } = await media.select("sha256").executeTakeFirstOrThrow();
    return sha256?.toString("hex");
  };
  const submitted = Array.from({ length: 24 }, async (_, index) => {
    const words = numbers(3).map((number) => number + index);
    const recording = toneWav(words);
    const name = await submit(`/short-${index}.wav`, recording);
    const job = await jobs.ended(account, name);
    assert.equal(job.state, State.SUCCESS, job.error?.message);
    const { text, media } = await transcriptOf(job);
    assert.equal(text, words.join(" "));
    assert.ok(media.id !== undefined && media.hasWaveform);
    assert.equal(await hashOf(media.id), createHash("sha256").update(recording).digest("hex"));
  });
  await Promise.all(submitted);
});
