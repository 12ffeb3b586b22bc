// Jobs keep nothing of a transcript that has been deleted, and are deleted with retention.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { sql, type Transaction } from "kysely";
import { metadataWith, openTestTranscripts } from "../../test/fixtures/open-test-transcripts.ts";
import { until } from "../../test/fixtures/until.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { emptyBins } from "../transcripts/empty-bins.ts";
import { putIntoBin } from "../transcripts/bin-store.ts";
import { enforceRetention } from "../transcripts/retention.ts";
import { jobMessage } from "./job-message.ts";
import { cancelJob, findJob } from "./job-store.ts";
import { failJob } from "./worker/end-jobs.ts";
import { sweepJobs } from "./worker/sweep-jobs.ts";

const app = await openTestTranscripts();
after(async () => {
  await app[Symbol.asyncDispose]();
});
const { db, store } = app;
const log = createLog("silent");
const dayMs = 86_400_000;

type State = "PROCESSING" | "SUCCESS" | "ERROR";
interface JobOf {
  readonly state: State;
  readonly transcript?: string;
  readonly newVersionOf?: string;
}

/** Inserts a job with everything that a request can give it. */
async function newJob(accountId: string, { state, transcript, newVersionOf }: JobOf) {
  const id = newId();
  const metadata = JSON.stringify({
    languageCode: "is-IS",
    fileType: "AUDIO",
    subject: "Fundur um Jón",
    keywords: ["leyndarmál"],
    description: "d",
    originalUri: "https://hlust.test/jon.wav",
    speakers: { "1": { fullName: "Jón" } },
  });
  const error = JSON.stringify({ code: 3, message: "https://hlust.test/jon.wav has no sound" });
  await sql`
    insert into transcript_job (id, account_id, state, metadata, subject, keywords, media_uri, hints,
      transcript_id, new_version_of, error)
    values (${id}, ${accountId}, ${state}, ${metadata}, 'fundur um jón', '{leyndarmál}',
      'https://hlust.test/jon.wav', '[{"phrases": ["Jón"]}]', ${transcript ?? null},
      ${newVersionOf ?? null}, ${state === "ERROR" ? error : null})`.execute(db);
  return id;
}

const rowOf = async (id: string): Promise<string | undefined> => {
  const { rows } = await sql<{ row: string }>`
    select row_to_json(j)::text as row from transcript_job j where id = ${id}`.execute(db);
  return rows[0]?.row;
};
const isNamed = /J[óo]n|jón|leyndarm/u;

async function newTranscript(accountId: string): Promise<string> {
  const name = await app.clientFor(accountId).create({ metadata: metadataWith(), segments: [] });
  return name.slice("transcripts/".length);
}

/** Jobs of a transcript, and jobs that must stay as they are when it is deleted. */
async function newJobs(accountId: string, transcript: string, other: string) {
  return {
    ended: [
      await newJob(accountId, { state: "SUCCESS", transcript }),
      await newJob(accountId, { state: "ERROR", newVersionOf: transcript }),
    ],
    others: [
      await newJob(accountId, { state: "PROCESSING", newVersionOf: transcript }),
      await newJob(accountId, { state: "SUCCESS", transcript: other }),
    ],
  };
}

async function keepTranscripts(accountId: string, days: number): Promise<void> {
  const retention = { transcript_retention_days: days };
  await db.updateTable("account").set(retention).where("id", "=", accountId).execute();
}

/** Makes a transcript as one that was changed in the future, which no retention deletes. */
async function changeLater(id: string): Promise<void> {
  const later = { updated_at: new Date(Date.now() + 40 * dayMs) };
  await db.updateTable("transcript").set(later).where("id", "=", id).execute();
}

const deletions: Record<string, (accountId: string, id: string) => Promise<void>> = {
  "its owner": async (accountId, id) => await app.clientFor(accountId).delete(`transcripts/${id}`),
  "the bin": async (accountId, id) => {
    const actor = { accountId, actor: "apiKeys/x" };
    const put = async () =>
      await db
        .transaction()
        .execute(async (trx) => await putIntoBin(trx, actor, [id], new Date(0)));
    await put();
    await emptyBins({ db, store, log, binDays: 1 });
  },
};

for (const [what, remove] of Object.entries(deletions)) {
  it(`jobs keep no title, keywords, URL and hints of a transcript that is deleted by ${what}`, async () => {
    const account = await app.newAccount();
    const [transcript, other] = [await newTranscript(account), await newTranscript(account)];
    const { ended, others } = await newJobs(account, transcript, other);
    const before = await Promise.all(others.map(rowOf));
    await remove(account, transcript);
    assert.deepEqual(await Promise.all(others.map(rowOf)), before);
    for (const id of ended) assert.doesNotMatch((await rowOf(id)) ?? "Jón", isNamed);
    // What is left is a job as any other.
    const [success, failed] = await Promise.all(
      ended.map(async (id) => jobMessage((await findJob(db, account, id)) ?? assert.fail())),
    );
    assert.deepEqual(success?.result, { case: "transcript", value: `transcripts/${transcript}` });
    assert.equal(success?.transcriptMetadata?.languageCode, "is-IS");
    assert.equal(failed?.result.case === "error" && failed.result.value.code, 3);
    await sweepJobs({ db, store, log });
  });
}

describe("a job that runs while the transcript is deleted that it transcribes again", () => {
  const ends: Record<
    string,
    (trx: Transaction<Tables>, account: string, id: string) => Promise<unknown>
  > = {
    fails: async (trx, _, id) =>
      await failJob(trx, { id, number: 0 }, { code: 5, message: "gone" }),
    "is cancelled": async (trx, account, id) => await cancelJob(trx, account, id),
  };
  const start = async () => {
    const account = await app.newAccount();
    const transcript = await newTranscript(account);
    const id = await newJob(account, { state: "PROCESSING", newVersionOf: transcript });
    const remove = async () => await app.clientFor(account).delete(`transcripts/${transcript}`);
    return { account, id, remove };
  };
  for (const [what, end] of Object.entries(ends)) {
    it(`keeps nothing of it when it ${what}`, async () => {
      const { account, id, remove } = await start();
      await remove();
      assert.match((await rowOf(id)) ?? "", isNamed);
      await db.transaction().execute(async (trx) => await end(trx, account, id));
      assert.doesNotMatch((await rowOf(id)) ?? "Jón", isNamed);
      const job = jobMessage((await findJob(db, account, id)) ?? assert.fail());
      assert.equal(job.transcriptMetadata?.languageCode, "is-IS");
      assert.equal(job.result.case, "error");
    });

    it(`keeps nothing of it when it ${what} before the deletion commits`, async () => {
      const { account, id, remove } = await start();
      let removing: Promise<void> | undefined;
      await db.transaction().execute(async (trx) => {
        await end(trx, account, id);
        removing = remove();
        await until(async () => (await waiting()) > 0);
      });
      await removing;
      assert.doesNotMatch((await rowOf(id)) ?? "Jón", isNamed);
    });

    it(`keeps nothing of it when it ${what} after the deletion, which has not committed`, async () => {
      const { account, id } = await start();
      let ending: Promise<unknown> | undefined;
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom("transcript").where("account_id", "=", account).execute();
        ending = db.transaction().execute(async (other) => await end(other, account, id));
        await until(async () => (await waiting()) > 0);
      });
      await ending;
      assert.doesNotMatch((await rowOf(id)) ?? "Jón", isNamed);
    });
  }

  it("keeps all of it when it fails and its transcript is still there", async () => {
    const { account, id } = await start();
    await db.transaction().execute(async (trx) => await ends["fails"]?.(trx, account, id));
    assert.match((await rowOf(id)) ?? "", isNamed);
  });
});

it("a job of another account is not ended, and its transcript not locked", async () => {
  const [account, stranger] = [await app.newAccount(), await app.newAccount()];
  const transcript = await newTranscript(account);
  const id = await newJob(account, { state: "PROCESSING", newVersionOf: transcript });
  await db.transaction().execute(async (holder) => {
    await sql`select from transcript where id = ${transcript} for update`.execute(holder);
    const isEnded = await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = 1000`.execute(trx);
      return await cancelJob(trx, stranger, id);
    });
    assert.equal(isEnded, false);
  });
});

/** Returns how many statements wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`.execute(db);
  return rows[0]?.count ?? 0;
}

describe("retention", () => {
  it("deletes the jobs of a transcript with it, and none that run or have another one", async () => {
    const account = await app.newAccount();
    await keepTranscripts(account, 10);
    const [transcript, other] = [await newTranscript(account), await newTranscript(account)];
    await changeLater(other);
    const { ended, others } = await newJobs(account, transcript, other);
    const before = await Promise.all(others.map(rowOf));
    await enforceRetention({ db, store, log, now: () => Date.now() + 10.1 * dayMs });
    assert.deepEqual(await Promise.all(others.map(rowOf)), before);
    assert.deepEqual(await Promise.all(ended.map(rowOf)), [undefined, undefined]);
  });

  it("deletes jobs without a transcript as long after their end, and none that run or have one", async () => {
    const account = await app.newAccount();
    await keepTranscripts(account, 10);
    const transcript = await newTranscript(account);
    await changeLater(transcript);
    const failed = await newJob(account, { state: "ERROR" });
    const others = [
      await newJob(account, { state: "PROCESSING" }),
      await newJob(account, { state: "SUCCESS", transcript }),
      await newJob(account, { state: "ERROR", newVersionOf: transcript }),
      await newJob(await app.newAccount(), { state: "ERROR" }),
    ];
    const sweep = async (afterDays: number) =>
      await enforceRetention({ db, store, log, now: () => Date.now() + afterDays * dayMs });
    await sweep(9.9);
    assert.notEqual(await rowOf(failed), undefined);
    await sweep(10.1);
    assert.equal(await rowOf(failed), undefined);
    for (const id of others) assert.notEqual(await rowOf(id), undefined);
  });
});
