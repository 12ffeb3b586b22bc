// docs/operations/privacy.md is true: it has each table and each time for which data is kept, and
// what it says about deletion works on a real database.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { removeOldAudit } from "../../src/auth/old-audit.ts";
import { idleMsMax, lifeMsMax } from "../../src/auth/session-store.ts";
import {
  invitationMsMax,
  linkRequestMsMax,
  signInMsDefault,
} from "../../src/auth/sign-in-token.ts";
import { streamTokenSeconds } from "../../src/auth/stream-token.ts";
import { keyUsageDays } from "../../src/auth/usage-store.ts";
import { keptTables, leftOutTables } from "../../src/backup/kept-tables.ts";
import { AccountSchema } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { openArchiveSweep } from "../../src/jobs/archive-sweep.ts";
import { openDiskStore } from "../../src/media/disk-store.ts";
import { perEmail } from "../../src/mail/link-requests.ts";
import { mailDays } from "../../src/mail/mail-store.ts";
import { unusedMsMax } from "../../src/media/unused-uploads.ts";
import { modelTaskDays } from "../../src/operator/model-methods.ts";
import { serviceSettings } from "../../src/settings/service-settings.ts";
import { settingTexts } from "../../src/settings/setting-groups.ts";
import { createLog } from "../../src/std/log.ts";
import { newId } from "../../src/std/ids.ts";
import { draftDays } from "../../src/transcripts/old-drafts.ts";
import { presenceSeconds } from "../../src/transcripts/presence-store.ts";
import { changesKeptMs } from "../../src/watches/change-feed.ts";
import { deliveryDays } from "../../src/webhooks/delivery-queue.ts";
import { addAccount } from "../fixtures/auth-fixture.ts";
import { openMigrated } from "../fixtures/open-empty-databases.ts";
import { openTestDatabase } from "../fixtures/open-test-database.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";

const page = readFileSync(resolve(import.meta.dirname, "../../docs/operations/privacy.md"), "utf8");
/** The rows of the table: what is stored, where, and for how long. */
const rows = Array.from(
  page.matchAll(/^\| (?!data|---)(.+?) \| (.+?) \| (.+?) \|$/gm),
  ([, data = "", where = "", time = ""]) => ({ data, where, time }),
);
const [, harmless = ""] = /^These tables have nothing about people: ([^]*?)\n\n/m.exec(page) ?? [];
const tablesIn = (text: string) =>
  Array.from(text.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g), ([, name = ""]) => name);

/** Returns the time in the row that names a table; there must be one row. */
function timeOf(table: string, data = ""): string {
  const found = rows.filter((row) => row.where.includes(`\`${table}\``) && row.data.includes(data));
  assert.equal(found.length, 1, table);
  return found[0]?.time ?? "";
}

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database[Symbol.asyncDispose]());

test("the page has every table of the database, and no other one", () => {
  assert.ok(rows.length > 25, `${rows.length} rows`);
  const named = new Set([...rows.flatMap(({ where }) => tablesIn(where)), ...tablesIn(harmless)]);
  const known = new Set<string>([...keptTables, ...Object.keys(leftOutTables)]);
  assert.deepEqual([...known.difference(named)], [], "tables that the page lacks");
  assert.deepEqual([...named.difference(known)], [], "names that are not a table");
});

test("the page has every setting and every field of an account that ends a time", () => {
  const settings = [...settingTexts({}).keys()].filter((name) => /_DAYS$|_KEEP_/.test(name));
  assert.ok(settings.length >= 3, settings.join());
  const fields = AccountSchema.fields.map(({ jsonName }) => jsonName);
  const times = fields.filter((name) => /retention|candidates/i.test(name));
  assert.ok(times.length >= 3, times.join());
  for (const name of [...settings, ...times]) assert.ok(page.includes(name), `no ${name}`);
});

test("the times of the page are those of the program", () => {
  const hourMs = 3_600_000;
  const { auditDays, binDays, removedMediaDays } = serviceSettings;
  const times: [table: string, data: string, time: string][] = [
    ["upload", "", `${unusedMsMax / hourMs} hours`],
    ["transcript_draft", "", `${draftDays} days after the last save`],
    ["transcript_participant", "", `${presenceSeconds} seconds after`],
    ["resource_change", "", `${changesKeptMs / 60_000} minutes`],
    ["session", "", `${lifeMsMax / (24 * hourMs)} days; ${idleMsMax / hourMs} hours without use`],
    ["sign_in_token", "", `${invitationMsMax / (24 * hourMs)} days, `],
    ["sign_in_token", "", `${signInMsDefault / 60_000} minutes`],
    ["sign_in_token", "", linkRequestMsMax === hourMs ? "an hour for those requested" : "none"],
    ["link_request", "", linkRequestMsMax === hourMs ? "an hour if no worker" : "none"],
    ["link_request_limit", "", perEmail.perMs === 24 * hourMs ? "a day" : "none"],
    ["invitation_mail", "", `${mailDays} days`],
    ["stream_token", "", `${streamTokenSeconds} seconds`],
    ["usage_day", "members", `${keyUsageDays} days`],
    ["webhook_delivery", "", `messages for ${deliveryDays} days`],
  ];
  for (const [table, data, time] of times) {
    assert.ok(timeOf(table, data).includes(time), `${table}: ${timeOf(table, data)}: no ${time}`);
  }
  assert.match(harmless, new RegExp(`\\b${modelTaskDays} days`));
  for (const { name, fallback } of [binDays, removedMediaDays]) {
    assert.ok(
      rows.some((row) => row.time.includes(`${name}, ${fallback} days`)),
      name,
    );
  }
  assert.equal(auditDays.fallback, "0");
  assert.ok(timeOf("audit_event").includes(`${auditDays.name}, by default forever`));
});

test("sessions, sign-in links and tokens that have ended are deleted by the service itself", async () => {
  const { db, folder } = database;
  const log = createLog("silent");
  const accountId = await addAccount(db);
  const memberId = await addMember(db, accountId, "MEMBER");
  const now = Date.now();
  const minuteMs = 60_000;
  const session = (name: string, endsInMs: number, unusedMs: number) => ({
    id: newId(),
    account_id: accountId,
    member_id: memberId,
    secret_hash: Buffer.alloc(32),
    rotated_at: new Date(now),
    created_at: new Date(now),
    last_used_at: new Date(now - unusedMs),
    expires_at: new Date(now + endsInMs),
    address: "192.0.2.7",
    user_agent: name,
  });
  await db
    .insertInto("session")
    .values([
      session("ended", -minuteMs, 0),
      session("idle", 60 * minuteMs, idleMsMax + minuteMs),
      session("open", 60 * minuteMs, idleMsMax - 60 * minuteMs),
    ])
    .execute();
  const expiries = [-minuteMs, 60 * minuteMs].map((ms) => new Date(now + ms));
  for (const expires_at of expiries) {
    const common = {
      id: newId(),
      account_id: accountId,
      secret_hash: Buffer.alloc(32),
      expires_at,
    };
    await db
      .insertInto("sign_in_token")
      .values({ ...common, member_id: memberId })
      .execute();
    const credential = { credential_kind: "session", credential_id: newId() } as const;
    await db
      .insertInto("stream_token")
      .values({ ...common, ...credential, actor: `members/${memberId}` })
      .execute();
  }
  const left = async () => [
    (await db.selectFrom("session").select("user_agent").execute()).map((row) => row.user_agent),
    ...(await Promise.all(
      (["sign_in_token", "stream_token"] as const).map(async (table) =>
        (await db.selectFrom(table).select("expires_at").execute()).map((row) => row.expires_at),
      ),
    )),
  ];
  await using store = await openDiskStore(join(folder, "media"), { log, sweeps: false });
  await using _sweep = openArchiveSweep({ db, store, log, binDays: 30, auditDays: 0 });
  await until(async () => (await left()).flat().length === 3);
  assert.deepEqual(await left(), [["open"], [expiries[1]], [expiries[1]]]);
});

test("the audit log is deleted after HLUST_AUDIT_DAYS, and refuses all other changes", async () => {
  const { db, pool, folder } = database;
  const log = createLog("silent");
  const accountId = await addAccount(db);
  const add = async (action: string, age: string, count = 1) =>
    await pool.query(
      `insert into audit_event (id, account_id, at, actor, action, resource, outcome, address, request_id, details)
       select gen_random_uuid(), $1, now() - $2::interval, 'operator', $3, '', 'OK', '192.0.2.7', '', '{}'
       from generate_series(1, $4)`,
      [accountId, age, action, count],
    );
  // More than two batches.
  await add("old", "731 days", 2500);
  await add("new", "729 days");
  await add("month", "31 days");
  await add("week", "29 days");
  const events = db.selectFrom("audit_event").where("account_id", "=", accountId);
  const left = async () =>
    (await events.select("action").distinct().orderBy("action").execute()).map((row) => row.action);
  await removeOldAudit({ db, log, auditDays: 0 });
  const refused = /the audit log only grows/;
  await assert.rejects(() => db.deleteFrom("audit_event").execute(), refused);
  assert.deepEqual(await left(), ["month", "new", "old", "week"]);
  {
    await using store = await openDiskStore(join(folder, "media"), { log, sweeps: false });
    const sweep = { db, store, log, binDays: 30, auditDays: 730 };
    await using _first = openArchiveSweep(sweep);
    await using _second = openArchiveSweep(sweep);
    await until(async () => !(await left()).includes("old"));
  }
  assert.deepEqual(await left(), ["month", "new", "week"]);
  // Not even the sweep could delete what is younger than 30 days.
  await assert.rejects(removeOldAudit({ db, log, auditDays: 1 }), refused);
  const deleteWith30Days = async (action: string) =>
    await db.transaction().execute(async (trx) => {
      await sql`select set_config('hlust.audit_days', '30', true)`.execute(trx);
      await trx.deleteFrom("audit_event").where("action", "=", action).execute();
    });
  await assert.rejects(deleteWith30Days("week"), refused);
  await deleteWith30Days("month");
  await assert.rejects(() => db.updateTable("audit_event").set({ actor: "x" }).execute(), refused);
  assert.deepEqual(await left(), ["new", "week"]);
});

test("the audit log is deleted where the database has summer time, which ended less than the days ago", async () => {
  const { pool } = database;
  const { host, user, database: name } = pool.options;
  // Summer time began 200 days ago and ended 10 days ago, whatever the date is today.
  const day = (ago: number) => {
    const date = new Date(Date.now() - ago * 86_400_000);
    // Years without a leap day.
    return Math.round(
      (Date.UTC(2025, date.getUTCMonth(), date.getUTCDate()) - Date.UTC(2024, 11, 31)) / 86_400_000,
    );
  };
  const zone = `HLW0HLS,J${day(200)},J${day(10)}`;
  await pool.query(`alter database ${name} set timezone = '${zone}'`);
  await using zoned = await openMigrated(
    `postgres://${user}@/${name}?host=${encodeURIComponent(host ?? "")}`,
  );
  await pool.query(`alter database ${name} reset timezone`);
  const { db } = zoned;
  const offsets = await sql<{ now: number; before: number }>`
    select extract(timezone from now())::int as now,
      extract(timezone from now() - interval '720 hours')::int as before`.execute(db);
  assert.deepEqual(offsets.rows, [{ now: 0, before: 3600 }]);
  const accountId = await addAccount(db);
  const add = async (action: string, age: string) =>
    await sql`
      insert into audit_event (id, account_id, at, actor, action, resource, outcome, address, request_id, details)
      values (gen_random_uuid(), ${accountId}, now() - ${age}::interval, 'operator', ${action}, '', 'OK',
        '192.0.2.7', '', '{}')`.execute(db);
  await add("old", "722 hours");
  // 30 times 24 hours are over, and 30 days are not.
  await add("between", "720 hours 30 minutes");
  await removeOldAudit({ db, log: createLog("silent"), auditDays: 30 });
  const left = db.selectFrom("audit_event").where("account_id", "=", accountId).select("action");
  assert.deepEqual(await left.execute(), [{ action: "between" }]);
});
