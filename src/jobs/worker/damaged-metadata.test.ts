import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

test("a job with damaged stored metadata fails without affecting other jobs, and its id is logged", async () => {
  await using fixture = await openWorkerFixture();
  const { jobs, account } = fixture;
  const { pool } = jobs.database;
  const names: string[] = [];
  for (const word of [10, 20, 30]) names.push(await fixture.submit("/tone.wav", toneWav([word])));
  const [, damaged = ""] = names;
  const id = damaged.split("/")[1];
  await pool.query(`update transcript_job set metadata = '{"languageCode": 7}' where id = $1`, [
    id,
  ]);
  // When the job ends, the webhook is notified with the job, which includes the metadata.
  await pool.query(
    `insert into webhook (id, account_id, url, display_name, event_types, secret)
     values (gen_random_uuid(), $1, 'http://127.0.0.1:1/', '', '{}', '')`,
    [account],
  );
  const events: { jobId?: string; msg: string }[] = [];
  const log = pino({}, { write: (line: string) => void events.push(JSON.parse(line)) });
  await using _worker = await jobs.openWorker(toneRecognizer(), { log });
  const ended = await Promise.all(names.map(async (name) => await jobs.ended(account, name)));
  assert.deepEqual(
    ended.map(({ state }) => state),
    [State.SUCCESS, State.ERROR, State.SUCCESS],
  );
  assert.match(ended[1]?.error?.message ?? "", /^the service failed on this recording/);
  const failed = events.filter(({ msg }) => msg === "job.failed").map(({ jobId }) => jobId);
  assert.deepEqual(failed, [id]);
  const { rows } = await pool.query("select tries from transcript_job where state = 'SUCCESS'");
  assert.deepEqual(rows, [{ tries: 1 }, { tries: 1 }]);
});
