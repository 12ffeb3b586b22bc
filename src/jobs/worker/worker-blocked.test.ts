// This test stops its whole process at times, so no other test can run in this process.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import { openWorkerFixture } from "../../../test/fixtures/worker-fixture.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import { TranscriptJob_State as State } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { leaseMs } from "./lease-jobs.ts";

test("a job that blocks its worker until the lease is lost ends as ERROR after three attempts", async () => {
  await using fixture = await openWorkerFixture();
  const recognizer: Recognizer = {
    ...toneRecognizer(),
    // oxlint-disable-next-line require-yield -- it never has words
    async *recognize(_, { signal }) {
      // The whole process is blocked for longer than a lease.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseMs + 1_000);
      await sleep(60_000, undefined, signal && { signal });
    },
  };
  await using _worker = await fixture.jobs.openWorker(recognizer);
  const name = await fixture.submit("/endless.wav", toneWav([10]));
  const job = await fixture.jobs.ended(fixture.account, name, 90_000);
  assert.equal(job.state, State.ERROR);
  assert.match(job.error?.message ?? "", /the worker stopped 3 times on this recording/);
});
