// Tests the use of accounts and keys, counted by several nodes on one database. An unavailable
// database causes no refusals.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely, KyselyPlugin } from "kysely";
import { addAccount, addApiKey } from "../../test/fixtures/auth-fixture.ts";
import { openFaultPostgres, type FaultPostgres } from "../../test/fault/open-fault-postgres.ts";
import { refusal } from "../../test/fixtures/refusal.ts";
import { until } from "../../test/fixtures/until.ts";
import { openDatabase, type Database } from "../database/database.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import { noLimits, type AccountLimits } from "./limits.ts";
import { openMeter, type Meter, type MeteredCaller } from "./meter.ts";
import { countJobAudio, readUsageDays } from "./usage-store.ts";

const open = new AsyncDisposableStack();
let postgres: FaultPostgres;
let database: Database;
let db: Kysely<Tables>;
before(async () => {
  const folder = await mkdtemp(join(tmpdir(), "hlust-meter-"));
  open.defer(async () => rm(folder, { recursive: true, force: true }));
  postgres = open.use(await openFaultPostgres(join(folder, "pg"), {}));
  const log = createLog("silent");
  database = open.use(await openDatabase({ url: postgres.url, folder, log }));
  ({ db } = database);
});
after(() => open[Symbol.asyncDispose]());

/** Opens a node that shares its counts only when the test requests it. */
function openNode(
  its: Kysely<Tables>,
  limits: Partial<AccountLimits> = {},
  idleMsMax = 1e6,
): Meter {
  const accountLimits = { ...noLimits, ...limits };
  const log = createLog("silent");
  return openMeter({ db: its, accountLimits, log, shareEveryMs: 1e9, idleMsMax });
}

/** Creates a member of a new account with these limits. */
async function newMember(limits: Record<string, number>): Promise<MeteredCaller> {
  const accountId = await addAccount(db);
  const update = db.updateTable("account").set({ limits: JSON.stringify(limits) });
  await update.where("id", "=", accountId).execute();
  return { accountId, keyId: undefined };
}

/** Creates a key with these limits in the caller's account. */
async function newKey(
  { accountId }: MeteredCaller,
  limits: Record<string, number>,
): Promise<MeteredCaller> {
  const { id: keyId } = await addApiKey(db, accountId, ["speech"]);
  const update = db.updateTable("api_key").set({ limits: JSON.stringify(limits) });
  await update.where("id", "=", keyId).execute();
  return { accountId, keyId };
}

/** Shares the counts of each node with the others. */
async function shareCounts(...nodes: readonly Meter[]): Promise<void> {
  for (const node of nodes) await node.share();
  for (const node of nodes) await node.share();
}

test("a call above the limit is refused with the name of the limit and is not counted, and other accounts are not affected", async () => {
  await using meter = openNode(db);
  const [many, few] = [await newMember({ requestsPerMinute: 2 }), await newMember({})];
  const calls = Array.from({ length: 50 }, async () => meter.countRequest(many));
  const results = await Promise.allSettled(calls);
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 2);
  const { code, reason, metadata, retryAfterMs, message } = await refusal(meter.countRequest(many));
  assert.deepEqual([code, reason], ["resource_exhausted", "TOO_MANY_REQUESTS"]);
  assert.deepEqual(metadata, { limit: "requestsPerMinute", value: "2", of: "account" });
  assert.match(message, /^the account has made 2 calls/);
  assert.ok(retryAfterMs !== undefined && retryAfterMs > 0 && retryAfterMs <= 120_000);
  await meter.countRequest(few);
  await meter.share();
  const [day] = await readUsageDays(db, many.accountId, { limit: 10 });
  assert.equal(day?.requests, 2, "refused calls do not count");
});

test("calls during an exchange between nodes are counted", async () => {
  await using meter = openNode(db);
  const caller = await newMember({ requestsPerMinute: 2, audioSecondsPerDay: 2 });
  using stream = await meter.openStream(caller);
  await meter.share();
  const sharing = meter.share();
  await meter.countRequest(caller);
  await meter.countRequest(caller);
  stream.meterAudio(2_000);
  await sharing;
  assert.equal((await refusal(meter.countRequest(caller))).reason, "TOO_MANY_REQUESTS");
  assert.equal((await refusal(meter.checkAudio(caller))).reason, "AUDIO_LIMIT");
});

test("a limit applies to the total of all nodes a second later", async () => {
  await using one = openNode(db);
  await using other = openNode(db);
  const caller = await newMember({ requestsPerMinute: 2 });
  await one.countRequest(caller);
  await one.share();
  await other.countRequest(caller);
  assert.equal((await refusal(other.countRequest(caller))).reason, "TOO_MANY_REQUESTS");
  await one.countRequest(caller);
  await shareCounts(one, other);
  assert.equal((await refusal(one.countRequest(caller))).reason, "TOO_MANY_REQUESTS");
  const [day] = await readUsageDays(db, caller.accountId, { limit: 10 });
  assert.equal(day?.requests, 3);
});

test("a key has its own limits within those of its account", async () => {
  await using meter = openNode(db);
  const member = await newMember({ requestsPerMinute: 3, concurrentStreams: 2 });
  const key = await newKey(member, { requestsPerMinute: 1, concurrentStreams: 1 });
  const other = await newKey(member, {});
  await meter.countRequest(key);
  const { metadata, message } = await refusal(meter.countRequest(key));
  assert.deepEqual(metadata, { limit: "requestsPerMinute", value: "1", of: "key" });
  assert.match(message, /^the key has/);
  await meter.countRequest(other);
  await meter.countRequest(member);
  assert.equal((await refusal(meter.countRequest(other))).metadata["of"], "account");
  using _one = await meter.openStream(key);
  assert.equal((await refusal(meter.openStream(key))).metadata["of"], "key");
  using _two = await meter.openStream(other);
  assert.equal((await refusal(meter.openStream(other))).metadata["of"], "account");
});

test("the streams of all nodes count while they are open, and those of a dead node until its lease ends", async () => {
  await using one = openNode(db);
  const folder = "";
  const dying = await openDatabase({ url: postgres.url, folder, log: createLog("silent") });
  await using dead = openNode(dying.db);
  const caller = await newMember({ concurrentStreams: 3 });
  const mine = await one.openStream(caller);
  await dead.openStream(caller);
  await dead.openStream(caller);
  await dead.share();
  await one.share();
  const refused = await refusal(one.openStream(caller));
  assert.deepEqual([refused.reason, refused.retryAfterMs], ["TOO_MANY_STREAMS", 5_000]);
  assert.equal((await refusal(one.checkStream(caller))).reason, "TOO_MANY_STREAMS");
  mine[Symbol.dispose]();
  mine[Symbol.dispose]();
  const again = await one.openStream(caller);
  assert.equal((await one.useOf(caller.accountId)).streams, 3);
  await dying[Symbol.asyncDispose]();
  const lease = `select extract(epoch from max(leased_until) - now()) as left from usage_node`;
  const [{ left } = {}] = await postgres.query(lease);
  assert.ok(Number(left) <= 10, "the lease ends within 10 s");
  await postgres.query(`update usage_node set leased_until = now() where id in
    (select node_id from usage_stream where streams = 2)`);
  await one.share();
  assert.equal((await one.useOf(caller.accountId)).streams, 1);
  again[Symbol.dispose]();
  await one.share();
  await one.share();
  const rows = await postgres.query(`select streams from usage_stream where streams = 1`);
  assert.deepEqual(rows, [], "ended streams are deleted");
});

test("audio counts as it arrives, the stream that reaches the limit ends, and the next stream is refused", async () => {
  await using one = openNode(db);
  await using other = openNode(db);
  const member = await newMember({ audioSecondsPerDay: 5 });
  const caller = await newKey(member, {});
  using stream = await one.openStream(caller);
  assert.equal(stream.meterAudio(1_500.25), undefined);
  await one.recognizeShort(caller, 2_000, async () => {});
  const failing = one.recognizeShort(caller, 9_000, () => Promise.reject(new Error("no engine")));
  await assert.rejects(failing, /no engine/);
  await one.checkAudio(caller);
  assert.equal(stream.meterAudio(1_499.5), undefined);
  const ended = stream.meterAudio(0.25);
  assert.deepEqual(ended?.metadata, { limit: "audioSecondsPerDay", value: "5", of: "account" });
  await shareCounts(one, other);
  for (const meter of [one, other]) {
    for (const refused of [
      await refusal(meter.openStream(caller)),
      await refusal(meter.checkAudio(caller)),
      await refusal(meter.recognizeShort(caller, 1, async () => {})),
    ]) {
      assert.deepEqual([refused.code, refused.reason], ["resource_exhausted", "AUDIO_LIMIT"]);
      const untilMidnight = 86_400_000 - (Date.now() % 86_400_000);
      assert.ok(Math.abs((refused.retryAfterMs ?? 0) - untilMidnight) < 60_000);
    }
  }
  const [day] = await readUsageDays(db, member.accountId, { limit: 10 });
  assert.deepEqual([day?.liveMs, day?.shortMs], [3_000, 2_000]);
});

test("audio of jobs also counts for the account and for the key", async () => {
  await using meter = openNode(db);
  const member = await newMember({ audioSecondsPerDay: 100 });
  const key = await newKey(member, { audioSecondsPerDay: 60 });
  const by = { accountId: member.accountId, keyId: key.keyId ?? null, memberId: null };
  const job = { ...by, ms: 30_000 };
  const end = async (...jobs: (typeof job)[]) =>
    db.transaction().execute(async (trx) => countJobAudio(trx, jobs));
  await end(job, job);
  assert.equal((await refusal(meter.checkAudio(key))).metadata["of"], "key");
  await meter.checkAudio(member);
  await end({ ...job, keyId: null, ms: 40_000 });
  await meter.share();
  assert.equal((await refusal(meter.checkAudio(member))).metadata["of"], "account");
  assert.equal((await meter.useOf(member.accountId)).audioMs, 100_000);
});

test("a write whose confirmation is lost counts once", async () => {
  let isLost = false;
  const losing: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: ({ result }) =>
      isLost ? Promise.reject(new Error("the answer is lost")) : Promise.resolve(result),
  };
  await using meter = openNode(db.withPlugin(losing));
  const caller = await newMember({});
  await meter.countRequest(caller);
  isLost = true;
  await assert.rejects(meter.share(), /lost/);
  await assert.rejects(meter.share(), /lost/);
  await meter.countRequest(caller);
  isLost = false;
  await meter.share();
  await meter.share();
  const [day] = await readUsageDays(db, caller.accountId, { limit: 10 });
  assert.equal(day?.requests, 2);
});

test("calls of a loaded account send no statement, and unused counters are dropped", async () => {
  let asked = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      asked += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await using meter = openNode(db.withPlugin(counting), {}, 0);
  const caller = await newKey(await newMember({}), {});
  await meter.share();
  const idle = asked;
  await meter.countRequest(caller);
  const loaded = asked;
  assert.equal(loaded - idle, 1);
  for (let i = 0; i < 1_000; i++) await meter.countRequest(caller);
  assert.equal(asked, loaded);
  await meter.share();
  assert.equal(asked, loaded + 1, "one statement for all counts, and no counter left to read");
  await meter.share();
  assert.equal(asked, loaded + 1);
});

test("fractions of a millisecond do not keep a counter in memory", async () => {
  let asked = 0;
  const counting: KyselyPlugin = {
    transformQuery({ node }) {
      asked += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await using meter = openNode(db.withPlugin(counting), {}, 0);
  const caller = await newMember({});
  {
    using stream = await meter.openStream(caller);
    stream.meterAudio(0.6);
  }
  await meter.recognizeShort(caller, 0.6, async () => {});
  await meter.share();
  await meter.share();
  const before = asked;
  await meter.share();
  assert.equal(asked, before, "no counter is left to read");
});

test("the audio of a short recognition that fails is subtracted even if its counter was dropped in the meantime", async () => {
  await using meter = openNode(db, {}, 0);
  const caller = await newKey(await newMember({}), {});
  const failing = meter.recognizeShort(caller, 9_000, async () => {
    await meter.share();
    await meter.share();
    throw new Error("no engine");
  });
  await assert.rejects(failing, /no engine/);
  await meter.share();
  const [day] = await readUsageDays(db, caller.accountId, { limit: 10 });
  assert.equal(day?.shortMs, 0);
});

test("a deleted account does not prevent writes for other accounts", async () => {
  await using meter = openNode(db);
  const [gone, stays] = [await newMember({}), await newMember({})];
  await meter.countRequest(gone);
  await meter.countRequest(stays);
  await db.deleteFrom("account").where("id", "=", gone.accountId).execute();
  await meter.share();
  const [day] = await readUsageDays(db, stays.accountId, { limit: 10 });
  assert.equal(day?.requests, 1);
});

test("limits set by the operator apply after the next exchange: 0 means unlimited, and unset limits follow the settings", async () => {
  await using meter = openNode(db, { requestsPerMinute: 1, concurrentStreams: 7 });
  const caller = await newMember({});
  await meter.countRequest(caller);
  assert.equal((await refusal(meter.countRequest(caller))).metadata["value"], "1");
  const update = db.updateTable("account").set({ limits: '{"requestsPerMinute":0}' });
  await update.where("id", "=", caller.accountId).execute();
  await meter.share();
  await meter.countRequest(caller);
  const { account } = await meter.limitsOf(caller);
  assert.deepEqual([account.requestsPerMinute, account.concurrentStreams], [0, 7]);
});

test("while the database is unavailable, the node's own counts apply, and they are written when it is available again", async () => {
  await using meter = openNode(db, { requestsPerMinute: 2 });
  const known = await newMember({ requestsPerMinute: 3 });
  await meter.countRequest(known);
  await meter.share();
  await postgres.kill();
  await assert.rejects(meter.share());
  await meter.countRequest(known);
  await meter.countRequest(known);
  assert.equal((await refusal(meter.countRequest(known))).metadata["value"], "3");
  const stranger = { accountId: newId(), keyId: newId() };
  await meter.countRequest(stranger);
  await meter.countRequest(stranger);
  assert.equal((await refusal(meter.countRequest(stranger))).metadata["value"], "2", "a setting");
  using _stream = await meter.openStream(stranger);
  await postgres.start();
  await until(async () => {
    await meter.share();
    const [day] = await readUsageDays(db, known.accountId, { limit: 10 });
    return day?.requests === 3;
  });
});
