import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { jobRequest, openJobs, type JobsFixture } from "../../test/fixtures/jobs-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { QueuePlaces } from "./queue-places.ts";
import { leaseJobs } from "./worker/lease-jobs.ts";

type TestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

let database: TestDatabase;
let jobs: JobsFixture;

before(async () => {
  database = await openTestDatabase();
  jobs = await openJobs(database, join(database.folder, "jobs"));
});

after(async () => {
  await jobs[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const waiting = { state: "PROCESSING", progressPercent: 0 } as const;
const placesNow = () => new QueuePlaces(database.db).of([waiting]);

test("the places of waiting jobs are the order in which workers lease them", async () => {
  const [many, few] = [await jobs.addAccount(), await jobs.addAccount()];
  const submit = (account: string) => jobs.submit(account, jobRequest("http://127.0.0.1:1/a.wav"));
  for (let count = 0; count < 4; count++) await submit(many);
  await leaseJobs(database.db, { passedOver: [], countMax: 1 });
  const ofFew = [await submit(few), await submit(few)];
  const places = await placesNow();
  // The job that runs has no place.
  assert.equal(places.size, 5);
  const taken: string[] = [];
  for (;;) {
    const [job] = await leaseJobs(database.db, { passedOver: [], countMax: 1 });
    if (!job) break;
    taken.push(job.lease.id);
  }
  assert.deepEqual(
    taken.map((id) => places.get(id)),
    [0, 1, 2, 3, 4],
  );
  const [first = ""] = ofFew;
  const before = places.get(first.split("/")[1] ?? "") ?? -1;
  assert.ok(before === 0 || before === 1, `${before}`);
  assert.equal((await placesNow()).size, 0);
});

test("no statement runs while no job that is shown can wait", async () => {
  const places = new QueuePlaces(database.db);
  const shown = [{ state: "PROCESSING", progressPercent: 3 } as const];
  await database.pool.query("update transcript_job set due_at = now()");
  assert.equal((await places.of(shown)).size, 0);
  const all = await places.of([...shown, waiting]);
  assert.equal(all.size, 6);
  // The places are read at most twice a second.
  assert.equal(await places.of([waiting]), all);
});
