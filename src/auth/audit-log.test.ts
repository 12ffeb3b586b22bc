import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { addAccount } from "../../test/fixtures/auth-fixture.ts";
import { testCaller } from "../../test/fixtures/test-caller.ts";
import type { Database } from "../database/database.ts";
import { audited, operatorOf, recordAct } from "./audit-log.ts";

let database: Database;
const lines: string[] = [];
const log = pino({ base: null, timestamp: false, messageKey: "event" }, { write: keep });
function keep(line: string): void {
  lines.push(line);
}

before(async () => {
  database = await openTestDatabase();
});
after(() => database[Symbol.asyncDispose]());

const eventsOf = async (accountId: string) =>
  await database.db
    .selectFrom("audit_event")
    .where("account_id", "=", accountId)
    .selectAll()
    .orderBy("at")
    .execute();

test("audited() commits a change with its audit event and writes one log line, whatever characters it contains", async () => {
  const { db } = database;
  const accountId = await addAccount(db);
  const origin = { address: "2001:db8::1", requestId: 'a\r\n{"event":"audit"}\u2028b' };
  const actor = { ...operatorOf(accountId), origin };
  const displayName = 'x"\r\n\u001b[31my';
  lines.length = 0;
  const answer = await audited({ db, log }, actor, async (trx, record) => {
    await trx.updateTable("account").set({ display_name: displayName }).execute();
    await record({
      action: "account.update",
      resource: `accounts/${accountId}`,
      details: { displayName },
    });
    assert.deepEqual(lines, [], "not before its commit");
    return "done";
  });
  assert.equal(answer, "done");
  const [event, ...more] = await eventsOf(accountId);
  assert.deepEqual(more, []);
  assert.equal(event?.request_id, origin.requestId);
  assert.deepEqual(event.details, { displayName });
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /^\P{Cc}*\n$/u);
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    level: 30,
    accountId,
    actor: "operator",
    action: "account.update",
    resource: `accounts/${accountId}`,
    outcome: "OK",
    ...origin,
    event: "audit",
  });
});

test("audited() keeps no change, event or log line if one of them fails", async () => {
  const { db } = database;
  const accountId = await addAccount(db);
  const caller = testCaller(accountId, []);
  lines.length = 0;
  const rename = async (name: string, action: string, failure?: Error) =>
    await audited({ db, log }, caller, async (trx, record) => {
      await trx.updateTable("account").set({ display_name: name }).execute();
      await record({ action, resource: "" });
      if (failure) throw failure;
    });
  await assert.rejects(rename("a", "account.update", new RangeError("late")), /late/);
  await assert.rejects(rename("b", "no event can hold this\u0000"), /invalid byte sequence/);
  const account = db.selectFrom("account").where("id", "=", accountId).select("display_name");
  assert.equal((await account.executeTakeFirstOrThrow()).display_name, "");
  assert.deepEqual(await eventsOf(accountId), []);
  assert.deepEqual(lines, []);
});

test("audit events are in the order of the acts, not in the order in which their transactions started", async () => {
  const { db } = database;
  const accountId = await addAccount(db);
  const actor = operatorOf(accountId);
  await audited({ db, log }, actor, async (trx, record) => {
    await trx.selectFrom("account").select("id").execute();
    await recordAct(db, actor, { action: "first", resource: "" });
    await record({ action: "second", resource: "" });
    await record({ action: "third", resource: "" });
  });
  assert.deepEqual(
    (await eventsOf(accountId)).map(({ action }) => action),
    ["first", "second", "third"],
  );
});

test("the audit log is append-only, and survives the deletion of its account", async () => {
  const { db, pool } = database;
  const accountId = await addAccount(db);
  await recordAct(db, testCaller(accountId, []), { action: "account.update", resource: "" });
  const before = await eventsOf(accountId);
  for (const statement of [
    "update audit_event set actor = 'operator'",
    "delete from audit_event",
    "truncate audit_event",
    "truncate audit_event, account cascade",
  ]) {
    await assert.rejects(pool.query(statement), /the audit log only grows/, statement);
  }
  await db.deleteFrom("account").where("id", "=", accountId).execute();
  assert.deepEqual(await eventsOf(accountId), before);
});
