import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { toneRecognizer, toneWav } from "../../test/fixtures/jobs-fixture.ts";
import { testCaller } from "../../test/fixtures/test-caller.ts";
import { until } from "../../test/fixtures/until.ts";
import { openWorkerFixture } from "../../test/fixtures/worker-fixture.ts";
import { Arrivals } from "../jobs/arrivals.ts";
import { EngineSlots } from "../jobs/worker/engine-slots.ts";
import { createLog } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { openAlignmentWorker } from "./alignment-worker.ts";
import { submitAlignment } from "./submit-alignment.ts";

test("an alignment job waits for its language, however many attempts that takes", async () => {
  await using fixture = await openWorkerFixture();
  const { jobs, account, submit } = fixture;
  const { db, pool } = jobs.database;
  const tones = toneRecognizer();
  {
    await using _worker = await jobs.openWorker(tones);
    await jobs.ended(account, await submit("/talk.wav", toneWav([11, 12])));
  }
  const { rows: made } = await pool.query("select id from transcript");
  const submitted = { db, aligner: tones, meter: jobs.meter, now: Date.now };
  await submitAlignment(submitted, testCaller(account, []), `transcripts/${made[0].id}`);
  let isReached = false;
  await using _alignment = openAlignmentWorker({
    db,
    arrivals: new Arrivals(),
    store: jobs.store,
    scratchFolder: join(jobs.scratchFolder, "alignment"),
    sandbox: jobs.sandbox,
    aligner: {
      ...tones,
      alignedLanguageCodes: () => (isReached ? ["en-US"] : ["sv-SE"]),
      checkModelsKnown() {
        if (isReached) return;
        throw new ServiceError("unavailable", "engine node 10.0.0.5:8090 is not reached yet", {
          reason: "NO_ENGINE",
          retryAfterMs: 1,
        });
      },
    },
    slots: new EngineSlots(1),
    durationMsMax: 3_600_000,
    parallelism: 1,
    log: createLog("silent"),
  });
  const job = async () => {
    const { rows } = await pool.query("select state, lease, error from alignment_job");
    return rows[0];
  };
  await until(async () => (await job()).lease > 6 || (await job()).state === "ERROR");
  assert.notEqual((await job()).state, "ERROR", JSON.stringify(await job()));
  isReached = true;
  await until(async () => ["SUCCESS", "ERROR"].includes((await job()).state));
  assert.equal((await job()).state, "SUCCESS", JSON.stringify(await job()));
});
