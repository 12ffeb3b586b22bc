// The use of members, in the console and with the keys that they created, and how long use is kept.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql, type Kysely } from "kysely";
import { addAccount, addApiKey } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { noLimits } from "./limits.ts";
import { openMeter, type MeteredCaller } from "./meter.ts";
import {
  countJobAudio,
  forgetOldUsage,
  readKeyUsage,
  readMemberUsage,
  readUsageDays,
} from "./usage-store.ts";

const log = createLog("silent");
const open = new AsyncDisposableStack();
let db: Kysely<Tables>;
before(async () => {
  ({ db } = open.use(await openTestDatabase()));
});
after(() => open[Symbol.asyncDispose]());

async function newKey(accountId: string, creator: string): Promise<MeteredCaller> {
  const { id: keyId } = await addApiKey(db, accountId, ["speech"]);
  await db.updateTable("api_key").set({ creator }).where("id", "=", keyId).execute();
  return { accountId, keyId };
}

test("the use of a member is that of the console and of the member's keys, revoked ones too", async () => {
  await using meter = openMeter({ db, accountLimits: noLimits, log, shareEveryMs: 1e9 });
  const accountId = await addAccount(db);
  const memberId = newId();
  const person = { accountId, keyId: undefined, actor: `members/${memberId}` };
  const own = await newKey(accountId, `members/${memberId}`);
  const other = await newKey(accountId, "operator");
  for (let count = 0; count < 3; count += 1) await meter.countRequest(person, true);
  await meter.countRequest(own);
  await meter.countRequest(other);
  await meter.recognizeShort(person, 2_000, async () => {});
  await meter.share();
  const job = { accountId, keyId: null, memberId: null, ms: 30_000 };
  const jobs = [
    { ...job, memberId },
    { ...job, keyId: own.keyId ?? null },
    { ...job, keyId: other.keyId ?? null, ms: 7_000 },
  ];
  await db.transaction().execute(async (trx) => await countJobAudio(trx, jobs));
  await db
    .deleteFrom("api_key")
    .where("id", "=", own.keyId ?? "")
    .execute();
  const none = { liveMs: 0, shortMs: 0, consoleRequests: 0 };
  assert.deepEqual(await readMemberUsage(db, accountId, ""), [
    {
      ...none,
      member: person.actor,
      requests: 4,
      consoleRequests: 3,
      shortMs: 2_000,
      jobMs: 60_000,
    },
    { ...none, member: "", requests: 1, jobMs: 7_000 },
  ]);
  assert.deepEqual(await readMemberUsage(db, accountId, "2020-01"), []);
  // What a member used in the console does not count as a revoked key.
  assert.deepEqual(await readKeyUsage(db, accountId, ""), [
    { ...none, key: `apiKeys/${other.keyId}`, requests: 1, jobMs: 7_000 },
    { ...none, key: "", requests: 1, jobMs: 30_000 },
  ]);
  const [day] = await readUsageDays(db, accountId, { limit: 1 });
  assert.deepEqual([day?.requests, day?.jobMs], [5, 67_000]);
});

test("the use of a key is kept for 400 days, that of an account without end", async () => {
  const accountId = await addAccount(db);
  const { keyId = assert.fail() } = await newKey(accountId, "operator");
  for (const subject of [accountId, keyId]) {
    await sql`
      insert into usage_day (subject_id, account_id, day, requests)
      select ${subject}, ${accountId}, (now() at time zone 'utc')::date - days, days
      from unnest(array[1, 399, 402]) as days`.execute(db);
  }
  await forgetOldUsage(db);
  const kept = async (subject: string) => {
    const rows = db.selectFrom("usage_day").select("requests").where("subject_id", "=", subject);
    return (await rows.orderBy("requests").execute()).map(({ requests }) => Number(requests));
  };
  assert.deepEqual(await kept(accountId), [1, 399, 402]);
  assert.deepEqual(await kept(keyId), [1, 399]);
});
