import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { openCutDatabase } from "../../test/fixtures/open-cut-database.ts";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { within } from "../../test/fixtures/until.ts";
import { openWatchedJobs, type WatchedJobs } from "../../test/fixtures/watched-jobs.ts";
import {
  WatchTranscriptJobsRequestSchema,
  type WatchTranscriptJobsResponse,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";
import { TranscriptWatchers } from "../transcripts/transcript-watchers.ts";
import { NodeWatches, watchesMax } from "../watches/node-watches.ts";
import { createWatchAccount } from "./watch-account.ts";
import { createWatchJobs } from "./watch-jobs.ts";

let jobs: WatchedJobs;
before(async () => {
  jobs = await openWatchedJobs();
});
after(() => jobs[Symbol.asyncDispose]());

/** Pauses that a test can wait for. */
const pauses = { firstMs: 20, msMax: 100 };

const requestOf = (...transcripts: string[]) =>
  create(WatchTranscriptJobsRequestSchema, { updatesOnly: true, transcripts });

type Messages = AsyncGenerator<WatchTranscriptJobsResponse, void, undefined>;

/** Returns the next message that is not empty: its jobs, and its transcripts with their states. */
async function next(messages: Messages): Promise<string[]> {
  for (;;) {
    const { value } = await within("the next message", messages.next());
    assert.ok(value, "the stream has ended");
    const shown = [
      ...value.jobs.map(({ name, progressPercent }) => `${name} ${progressPercent}`),
      ...value.transcripts.map(({ name, state }) =>
        state?.deleted ? `${name} deleted` : `${name} there`,
      ),
    ];
    if (shown.length > 0) return shown;
  }
}

test("a transcript for which there is no place ends nothing, and is watched when there is one", async () => {
  await using app = await openTestTranscripts();
  const { db, accountId } = app;
  const node = new NodeWatches(db);
  const watchAccount = createWatchAccount(
    createWatchJobs(db, node),
    new TranscriptWatchers(db, node),
    pauses,
  );
  const one = await app.client.create({ metadata: metadataWith(), segments: [] });
  const other = await app.client.create({ metadata: metadataWith(), segments: [] });
  // One is left for the jobs, and one for a transcript.
  const places = Array.from({ length: watchesMax.account - 2 }, () => node.enter(accountId));
  const { signal } = new AbortController();
  const messages = watchAccount(accountId, requestOf(one, other), signal);
  assert.deepEqual(await next(messages), [`${one} there`]);
  // The stream goes on, with the jobs and with the transcript that has a place.
  const id = newId();
  await db
    .insertInto("transcript_job")
    .values({ id, account_id: accountId, state: "PROCESSING", metadata: "{}" })
    .execute();
  assert.deepEqual(await next(messages), [`transcriptjob/${id} 0`]);
  await app.client.delete(one);
  assert.deepEqual(await next(messages), [`${one} deleted`]);
  assert.deepEqual(await next(messages), [`${other} there`]);
  for (const place of places) place[Symbol.dispose]();
  node.stop(new ServiceError("unavailable", "stopping"));
  await assert.rejects(within("the end", next(messages)), { message: "stopping" });
});

test("a transcript that cannot be read for a moment ends nothing, and is read when it can be", async () => {
  const { db } = jobs.database;
  const account = await jobs.addAccount();
  const node = new NodeWatches(db);
  await using line = await openCutDatabase(jobs.database);
  await line.cut();
  const watchAccount = createWatchAccount(
    createWatchJobs(db, node),
    new TranscriptWatchers(line.db, node),
    pauses,
  );
  const name = `transcripts/${newId()}`;
  const leaving = new AbortController();
  const messages = watchAccount(account, requestOf(name), leaving.signal);
  const first = next(messages);
  const id = await jobs.addJob(account);
  assert.deepEqual(await first, [`transcriptjob/${id} 0`]);
  await line.repair();
  assert.deepEqual(await next(messages), [`${name} deleted`]);
  await line.cut();
  const left = watchAccount(account, requestOf(name), leaving.signal);
  assert.equal((await left.next()).done, false);
  const ended = next(left);
  leaving.abort(new Error("left"));
  await assert.rejects(within("the end during a pause", ended), { message: "left" });
  await assert.rejects(next(messages), { message: "left" });
});

test("an error that is not a refusal ends the stream", async () => {
  const { db } = jobs.database;
  const node = new NodeWatches(db);
  const broken = db.withPlugin({
    transformQuery() {
      throw new TypeError("a bug");
    },
    transformResult: async ({ result }) => result,
  });
  const watchers = new TranscriptWatchers(broken, node);
  const watchAccount = createWatchAccount(createWatchJobs(db, node), watchers, pauses);
  const account = await jobs.addAccount();
  const request = requestOf(`transcripts/${newId()}`);
  const messages = watchAccount(account, request, new AbortController().signal);
  await assert.rejects(within("the end", next(messages)), { name: "TypeError", message: "a bug" });
});
