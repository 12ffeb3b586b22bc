import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kysely } from "kysely";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { until } from "../../../test/fixtures/until.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import type { Tables } from "../../database/tables.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

let fixture: WorkerFixture;

before(async () => {
  fixture = await openWorkerFixture();
});

after(() => fixture[Symbol.asyncDispose]());

/** Returns the database as a node reaches it. `isDown` is called with each statement. */
function reachedUnless(isDown: (statement: string) => boolean): Kysely<Tables> {
  return fixture.jobs.database.db.withPlugin({
    transformQuery({ node }) {
      if (!isDown(JSON.stringify(node))) return node;
      throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    },
    transformResult: async ({ result }) => result,
  });
}

test("a worker keeps its job through an outage of the database that is longer than its lease", async () => {
  const { jobs, account } = fixture;
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const recognizer = toneRecognizer({
    async onPiece() {
      begun.resolve();
      await gate.promise;
    },
  });
  let isDown = false;
  await using _first = await jobs.openWorker(recognizer, { db: reachedUnless(() => isDown) });
  const words = numbers(20);
  const name = await fixture.submit("/outage.wav", toneWav(words));
  await begun.promise;
  isDown = true;
  const { pool } = jobs.database;
  let polls = 0;
  // The first poll of the other worker fails. When its polls succeed again, the database soon
  // responds to the first worker too, which extends its lease once a second.
  const other = reachedUnless((statement) => {
    if (!/with next as|select 1/.test(statement)) return false;
    polls++;
    if (polls > 1) void sleep(300).then(() => (isDown = false));
    return polls === 1;
  });
  await pool.query("update transcript_job set due_at = now() - interval '1 second'");
  const scratchFolder = join(fixture.folder, "scratch-other");
  await using _second = await jobs.openWorker(toneRecognizer(), { db: other, scratchFolder });
  await using opened = new AsyncDisposableStack();
  opened.defer(() => gate.resolve());
  await until(async () => {
    const { rows } = await pool.query("select from transcript_job where due_at > now()");
    return rows.length === 1;
  });
  const { rows } = await pool.query("select lease, tries from transcript_job");
  assert.deepEqual(rows, [{ lease: 1, tries: 1 }]);
  gate.resolve();
  const job = await jobs.ended(account, name);
  assert.equal(job.state, State.SUCCESS);
  assert.equal((await fixture.transcriptOf(job)).text, words.join(" "));
});
