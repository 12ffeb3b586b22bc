import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { addAccount, addApiKey } from "../../test/fixtures/auth-fixture.ts";
import { openTestDatabase } from "../../test/fixtures/open-test-database.ts";
import { addMember, addSignedIn } from "../../test/fixtures/signed-in.ts";
import { testOrigin } from "../../test/fixtures/test-caller.ts";
import { until, within } from "../../test/fixtures/until.ts";
import type { Database } from "../database/database.ts";
import { createLog } from "../std/log.ts";
import type { Visit } from "./open-session.ts";
import { removeOldSessions } from "./old-sessions.ts";
import { createSessions, type Sessions } from "./sessions.ts";
import { createSignInToken } from "./sign-in-token.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

let database: Database;
let sessions: Sessions;
/** Another node on the same database. */
let elsewhere: Sessions;
let accountId: string;
/** The clock of both nodes; each test advances it. */
let now = Date.parse("2026-11-22T12:00:00.123Z");
const visit: Visit = { origin: testOrigin, userAgent: "test", before: undefined };

before(async () => {
  database = await openTestDatabase();
  const node = () => createSessions({ db: database.db, now: () => now, log: createLog("silent") });
  [sessions, elsewhere] = [node(), node()];
  accountId = await addAccount(database.db);
});
after(() => database[Symbol.asyncDispose]());

const signIn = () => addSignedIn(database.db, accountId, "MEMBER", sessions);

/**
 * Advances the clock in steps, with a call at the end of each step. Returns the secret, or
 * undefined if it was refused.
 */
async function useFor(secret: string, ms: number, stepMs: number): Promise<string | undefined> {
  let latest: string | undefined = secret;
  for (const end = now + ms; now + stepMs < end && latest !== undefined;) {
    now += stepMs;
    const found = await sessions.check(latest);
    latest = found && (found.renewed ?? latest);
    await notedUse();
  }
  return latest;
}

/** Waits until the last use is written; calls do not wait for that write. */
async function notedUse(): Promise<void> {
  const minute = Math.floor(now / minuteMs) * minuteMs;
  await until(async () => {
    const row = await database.db
      .selectFrom("session")
      .select("last_used_at")
      .orderBy("last_used_at", "desc")
      .limit(1)
      .executeTakeFirst();
    return row === undefined || row.last_used_at.getTime() >= minute;
  });
}

describe("check()", () => {
  it("returns a member's session, with the scopes of the role", async () => {
    const { memberId, secret, sessionId } = await signIn();
    const { session, renewed } = (await sessions.check(secret)) ?? assert.fail("refused");
    assert.equal(renewed, undefined);
    assert.deepEqual(
      [session.id, session.accountId, session.actor, session.role, [...session.scopes]],
      [
        sessionId,
        accountId,
        `members/${memberId}`,
        "MEMBER",
        ["transcripts.read", "transcripts.write", "speech"],
      ],
    );
    assert.deepEqual(session.credential, { kind: "session", id: sessionId });
    assert.ok(await elsewhere.check(secret), "on another node too");
  });

  it("returns an API key's session, with the key's scopes, until the key expires", async () => {
    const expiresAt = new Date(now + hourMs / 2);
    const key = await addApiKey(database.db, accountId, ["speech"], expiresAt);
    const { secret } = await sessions.open({ accountId, apiKeyId: key.id }, "api_key", visit);
    const { session } = (await sessions.check(secret)) ?? assert.fail("refused");
    assert.deepEqual([session.actor, session.keyId], [`apiKeys/${key.id}`, key.id]);
    assert.deepEqual([...session.scopes], ["speech"]);
    now = expiresAt.getTime();
    assert.equal(await sessions.check(secret), undefined);
  });

  it("refuses malformed secrets, another session's secret, and any changed character", async () => {
    const [{ secret }, other] = [await signIn(), await signIn()];
    const crossed = secret.slice(0, -43) + other.secret.slice(-43);
    const texts = ["", "x", secret.slice(0, -1), `${secret}A`, crossed, secret.toUpperCase()];
    for (const text of texts) assert.equal(await sessions.check(text), undefined, text);
    assert.ok(await sessions.check(secret));
  });

  it("ends a session after 12 hours without use, and after 7 days in any case", async () => {
    const [one, other] = [await signIn(), await signIn()];
    now += 12 * hourMs - 1;
    assert.ok(await sessions.check(one.secret));
    now += 1;
    assert.equal(await sessions.check(other.secret), undefined);

    const used = await signIn();
    const end = now + 7 * 24 * hourMs;
    const latest = (await useFor(used.secret, 7 * 24 * hourMs, 11 * hourMs)) ?? "";
    assert.notEqual(latest, "", "it is used every 11 hours");
    now = end - 1;
    assert.ok(await sessions.check(latest));
    now = end;
    assert.equal(await sessions.check(latest), undefined);
  });

  it("replaces the secret each hour and accepts the previous one until a minute after the first use of the new one", async () => {
    const { secret: first } = await signIn();
    now += hourMs - 1;
    assert.equal((await sessions.check(first))?.renewed, undefined);
    now += 1;
    const [one, two] = await Promise.all([sessions.check(first), elsewhere.check(first)]);
    assert.ok(one && two, "concurrent calls all succeed");
    const renewed = [one.renewed, two.renewed].filter((each) => each !== undefined);
    assert.equal(renewed.length, 1, "and one of them gets the new secret");
    const [second = ""] = renewed;
    assert.ok(await sessions.check(first), "calls in flight");
    assert.ok(await sessions.check(second));
    assert.ok(await elsewhere.check(second));
    now += minuteMs - 1;
    assert.ok(await sessions.check(first));
    now += 1;
    assert.equal(await sessions.check(first), undefined);
    assert.equal(await elsewhere.check(first), undefined);
    assert.ok(await sessions.check(second));
  });

  it("accepts a new secret immediately on a node that has just read the old one", async () => {
    const { secret: first } = await signIn();
    now += hourMs - 1;
    assert.ok(await elsewhere.check(first));
    now += 1;
    const second = (await sessions.check(first))?.renewed ?? assert.fail("not renewed");
    assert.ok(await elsewhere.check(second));
  });

  it("issues another new secret to a browser that did not receive the first one", async () => {
    const { secret: first } = await signIn();
    now += hourMs;
    const lost = (await sessions.check(first))?.renewed ?? assert.fail("not renewed");
    now += minuteMs - 1;
    assert.equal((await sessions.check(first))?.renewed, undefined, "it may be in flight");
    now += 1;
    const second = (await sessions.check(first))?.renewed ?? assert.fail("not renewed");
    assert.equal(await sessions.check(lost), undefined);
    assert.ok(await sessions.check(second));
    now += minuteMs;
    assert.equal(await sessions.check(first), undefined);
  });

  it("reads the session again after at most half a second", async () => {
    const [gone, demoted] = [await signIn(), await signIn()];
    for (const { secret } of [gone, demoted]) assert.ok(await sessions.check(secret));
    const { db } = database;
    await db.deleteFrom("member").where("id", "=", gone.memberId).execute();
    await db
      .updateTable("member")
      .set({ role: "VIEWER" })
      .where("id", "=", demoted.memberId)
      .execute();
    now += 500;
    assert.equal(await sessions.check(gone.secret), undefined);
    assert.equal((await sessions.check(demoted.secret))?.session.role, "VIEWER");
    await db
      .updateTable("account")
      .set({ disabled_at: new Date(now) })
      .execute();
    now += 500;
    assert.equal(await sessions.check(demoted.secret), undefined);
    await db.updateTable("account").set({ disabled_at: null }).execute();
  });
});

describe("open()", () => {
  it("ends the browser's previous session and records both events", async () => {
    const { db } = database;
    const first = await signIn();
    const before = (await sessions.check(first.secret))?.session;
    const owner = { accountId, memberId: first.memberId };
    const { session, secret } = await sessions.open(owner, "open_id", { ...visit, before });
    assert.notEqual(session.id, first.sessionId);
    assert.equal(await sessions.check(first.secret), undefined);
    await sessions.end(session, testOrigin);
    await sessions.end(session, testOrigin);
    assert.equal(await sessions.check(secret), undefined);
    const acts = await db
      .selectFrom("audit_event")
      .select(["action", "resource", "actor"])
      .where("actor", "=", `members/${first.memberId}`)
      .orderBy("id")
      .execute();
    assert.deepEqual(
      acts.map(({ action, resource }) => [action, resource]),
      [
        ["session.create", `sessions/${first.sessionId}`],
        ["session.delete", `sessions/${first.sessionId}`],
        ["session.create", `sessions/${session.id}`],
        ["session.delete", `sessions/${session.id}`],
      ],
    );
  });

  it("does not extend a session by switching accounts", async () => {
    const first = await signIn();
    now += 6 * hourMs;
    const before = (await sessions.check(first.secret))?.session ?? assert.fail("refused");
    const owner = { accountId, memberId: await addMember(database.db, accountId, "VIEWER") };
    const { session } = await sessions.open(owner, "switch", { ...visit, before });
    assert.deepEqual(session.expiresAt, before.expiresAt);
    const other = await sessions.open(owner, "open_id", { ...visit, before: session });
    assert.ok(other.session.expiresAt > before.expiresAt, "signing in does");
  });

  it("keeps the 100 most recently used sessions of a member and no expired ones", async () => {
    const { db } = database;
    const memberId = await addMember(db, accountId, "VIEWER");
    const owner = { accountId, memberId };
    const first = await sessions.open(owner, "open_id", visit);
    for (let count = 0; count < 100; count += 1) {
      now += 1;
      await sessions.open(owner, "open_id", visit);
    }
    const countOf = async () => {
      const rows = db.selectFrom("session").select("id").where("member_id", "=", memberId);
      return (await rows.execute()).length;
    };
    assert.equal(await countOf(), 100);
    now += 500;
    assert.equal(await sessions.check(first.secret), undefined);
    now += 12 * hourMs;
    await signIn();
    assert.equal(await countOf(), 0);
  });

  it("stores only hashes of secrets", async () => {
    const { secret } = await signIn();
    const rows = await database.db.selectFrom("session").selectAll().execute();
    const dump = rows.map((row) => JSON.stringify(row) + row.secret_hash.toString("latin1"));
    assert.ok(!dump.join().includes(secret.slice(-43)));
  });
});

it("a new sign-in link does not wait for a transaction that deletes expired links", async () => {
  const { db } = database;
  const { memberId } = await signIn();
  const link = async (lifeMs: number) =>
    await createSignInToken(db, { accountId, memberId }, { lifeMs });
  await link(-1_000);
  const expired = db.selectFrom("sign_in_token").where("expires_at", "<=", sql<Date>`now()`);
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom("sign_in_token").where("member_id", "=", memberId).execute();
    await within("a link", link(60_000), 10_000);
    await within("the sweep", removeOldSessions({ db, log: createLog("silent") }), 10_000);
  });
  await link(-1_000);
  await link(60_000);
  assert.deepEqual(await expired.select("id").execute(), []);
});
