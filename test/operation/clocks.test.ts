// Two nodes on one database whose clocks are an hour ahead and an hour behind: neither ends nor
// deletes anything too early, and neither keeps what is over.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { createSignInToken } from "../../src/auth/sign-in-token.ts";
import type { Database } from "../../src/database/database.ts";
import { newId } from "../../src/std/ids.ts";
import { type ServiceProcess, startService } from "../fault/process.ts";
import { openEmptyDatabases, openMigrated } from "../fixtures/open-empty-databases.ts";
import { addSignedIn, consoleHeaders, type SignedIn } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";

const opened = new AsyncDisposableStack();
let db: Database["db"];
let startNode: (name: string, aheadMinutes: number) => Promise<ServiceProcess>;
let accountId: string;
before(async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-clocks-"));
  opened.defer(() => rmSync(folder, { recursive: true, force: true }));
  const databases = opened.use(await openEmptyDatabases({ durable: true }));
  const own = await databases.newDatabase("clocks");
  // The socket is in an open folder of this process.
  const url = own.replace("%2Fproc%2Fself%2F", `%2Fproc%2F${process.pid}%2F`);
  ({ db } = opened.use(await openMigrated(url)));
  accountId = newId();
  await sql`insert into account (id, display_name, transcript_retention_days)
    values (${accountId}, 'a', 10)`.execute(db);
  const media = join(folder, "media");
  mkdirSync(media);
  startNode = async (name, aheadMinutes) => {
    const data = join(folder, name);
    mkdirSync(data);
    symlinkSync(media, join(data, "media"));
    // Every clock of the process and of its threads is wrong, and that of the database is not.
    const shift = `const now = Date.now, ahead = ${aheadMinutes} * 60_000, RealDate = Date;
      globalThis.Date = class Date extends RealDate {
        constructor(...given) { given.length === 0 ? super(now() + ahead) : super(...given); }
        static now() { return now() + ahead; }
      };`;
    return opened.use(
      await startService(data, {
        DATABASE_URL: url,
        HLUST_ENGINE: "scripted",
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}`,
      }),
    );
  };
});
after(() => opened.disposeAsync());

const since = (text: string) => sql`now() - ${text}::interval`;

/** Inserts one row of each kind, half an hour before or after the end of its time. */
async function addRows(when: "over" | "not_over"): Promise<void> {
  const half = when === "over" ? "30 minutes" : "-30 minutes";
  const member = await addSignedIn(db, accountId, "MEMBER");
  const [listed, binned, old] = [newId(), newId(), newId()];
  const age = (days: string) => sql`${since(days)} - ${half}::interval`;
  await sql`insert into transcript
      (id, account_id, version_id, subject, metadata, keywords, updated_at, bin_account_id, binned_at, binned_by)
    values (${listed}, ${accountId}, ${listed}, ${when}, '{}', '{}', now(), null, null, null),
      (${old}, ${accountId}, ${old}, ${when}, '{}', '{}', ${age("10 days")}, null, null, null),
      (${binned}, null, ${binned}, ${when}, '{}', '{}', now(), ${accountId}, ${age("30 days")}, 'x')`.execute(
    db,
  );
  await sql`insert into transcript_share
      (id, transcript_id, account_id, secret_hash, with_media, note, author, created_at, expires_at)
    values (${newId()}, ${listed}, ${accountId}, '\\x00', false, ${when}, '', now(), ${age("0")})`.execute(
    db,
  );
  await sql`insert into transcript_draft
      (transcript_id, account_id, member_id, base_version_id, content, etag, updated_at)
    values (${listed}, ${accountId}, ${member.memberId}, ${listed}, '\\x00', ${newId()},
      ${age("30 days")})`.execute(db);
  await sql`update session set user_agent = ${when}, last_used_at = ${age("12 hours")}
    where id = ${member.sessionId}`.execute(db);
  await sql`insert into sign_in_token (id, account_id, member_id, secret_hash, expires_at)
    values (${newId()}, ${accountId}, ${member.memberId}, '\\x00', ${age("0")})`.execute(db);
}

/** Counts the rows of each kind whose time is over, and those whose time is not. */
async function counts() {
  const { rows } = await sql<Record<string, number>>`
    with moments as (
      select 'transcript' as kind, id, updated_at + interval '10 days' as over_at from transcript
        where updated_at < now() - interval '1 day'
      union all select 'bin', id, binned_at + interval '30 days' from transcript
        where binned_at is not null
      union all select 'share', id, expires_at from transcript_share
      union all select 'draft', transcript_id, updated_at + interval '30 days' from transcript_draft
      union all select 'session', id, last_used_at + interval '12 hours' from session
        where user_agent in ('over', 'not_over')
      union all select 'token', id, expires_at from sign_in_token where secret_hash = '\\x00')
    select count(*) filter (where over_at <= now())::int as over,
      count(distinct kind) filter (where over_at > now())::int as kinds,
      count(*) filter (where over_at > now())::int as kept from moments`.execute(db);
  return rows[0];
}

/** Returns the status with which a node answers a page of the console. */
async function statusAt(node: ServiceProcess, { headers }: Pick<SignedIn, "headers">) {
  return (await fetch(`${node.address}/console/api/v1/account`, { headers })).status;
}

async function signsIn(node: ServiceProcess, signInToken: string): Promise<number> {
  const answer = await fetch(`${node.address}/console/session`, {
    method: "POST",
    headers: { ...consoleHeaders(undefined), "content-type": "application/json" },
    body: JSON.stringify({ signInToken }),
  });
  return answer.status;
}

test("a node whose clock is an hour off neither deletes too early nor keeps what is over", async () => {
  await addRows("not_over");
  const kept = { over: 0, kinds: 6, kept: 6 };
  assert.deepEqual(await counts(), kept);
  const nodes: ServiceProcess[] = [];
  for (const [name, aheadMinutes] of [
    ["ahead", 60],
    ["behind", -60],
  ] as const) {
    await addRows("over");
    assert.equal((await counts())?.["over"], 6);
    // A node sweeps when it starts.
    nodes.push(await startNode(name, aheadMinutes));
    await until(async () => (await counts())?.["over"] === 0, 60_000);
    assert.deepEqual(await counts(), kept, name);
  }

  for (const node of nodes) {
    const [open, idle] = [
      await addSignedIn(db, accountId, "MEMBER"),
      await addSignedIn(db, accountId, "MEMBER"),
    ];
    const used = async ({ sessionId }: SignedIn, age: string) => {
      await sql`update session set last_used_at = ${since(age)} where id = ${sessionId}`.execute(
        db,
      );
    };
    await used(open, "690 minutes");
    await used(idle, "750 minutes");
    assert.deepEqual([await statusAt(node, open), await statusAt(node, idle)], [200, 401]);
    const { memberId } = open;
    const link = async (lifeMs: number) =>
      await createSignInToken(db, { accountId, memberId }, { lifeMs });
    assert.equal(await signsIn(node, await link(600_000)), 200);
    assert.equal(await signsIn(node, await link(-600_000)), 401);
    assert.deepEqual(await newTimes(node), [{ link: 72, token: 0, content: 24 }]);
  }
  // Signing in deletes sessions that are over, and no others.
  assert.deepEqual(await counts(), kept);
});

/**
 * Makes a link and a job whose content is sent later. Returns the hours that are left of them, and
 * the difference in seconds between the time that the link states and that of its token.
 */
async function newTimes(node: ServiceProcess) {
  const owner = await addSignedIn(db, accountId, "OWNER");
  const member = await addSignedIn(db, accountId, "MEMBER");
  const post = async (path: string, body: object): Promise<{ expireTime?: string }> => {
    const answer = await fetch(`${node.address}/console/api${path}`, {
      method: "POST",
      headers: { ...owner.headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const json: { expireTime?: string } = JSON.parse(await answer.text());
    assert.equal(answer.status, 200, JSON.stringify(json));
    return json;
  };
  const { expireTime } = await post(`/v1/members/${member.memberId}:createSignInLink`, {});
  const metadata = { languageCode: "en-US", fileType: "AUDIO" };
  await post("/v1alpha1/transcriptjob:submit", { metadata, useUri: false, uri: "" });
  const { rows } = await sql<{ link: number; token: number; content: number }>`
    select round(extract(epoch from ${expireTime}::timestamptz - now()) / 3600)::int as link,
      (select round(extract(epoch from max(expires_at) - ${expireTime}::timestamptz))::int
        from sign_in_token where member_id = ${member.memberId}) as token,
      (select round(extract(epoch from max(expires_at) - now()) / 3600)::int from upload) as content`.execute(
    db,
  );
  await sql`delete from upload`.execute(db);
  return rows;
}
