// Requested links, from the request to the mail that arrives at a real SMTP server.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { openKeptLog } from "../../test/fixtures/kept-log.ts";
import {
  mailOptionsFor,
  openMailFixture,
  type MailFixture,
} from "../../test/fixtures/mail-fixture.ts";
import { openMailReceiver, type MailReceiver } from "../../test/fixtures/mail-receiver.ts";
import { until } from "../../test/fixtures/until.ts";
import { callerOf } from "../auth/caller.ts";
import { removeOldSessions } from "../auth/old-sessions.ts";
import { takeSignInToken } from "../auth/sign-in-token.ts";
import { accountsMax, answerLinkRequests } from "./answer-link-requests.ts";
import { createLinkRequests, type RequestLink } from "./link-requests.ts";

let fixture: MailFixture;
let request: RequestLink;
before(async () => {
  fixture = await openMailFixture();
  request = createLinkRequests({ db: fixture.database.db, key: Buffer.alloc(32, 7) });
});
after(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.database.pool.query(
    "truncate invitation_mail, link_request, link_request_limit, sign_in_token",
  );
});

const origin = { address: "192.0.2.7", requestId: "r-77" };
const ask = async (email: string, languageCode = "is") =>
  await request({ email, languageCode }, origin);
const counted = async (table: "link_request" | "sign_in_token") =>
  (await fixture.database.db.selectFrom(table).select("id").execute()).length;
const isAnswered = async () => (await counted("link_request")) === 0;
const tokenIn = (text = "") => /#signInToken=(\S+)/.exec(text)?.[1] ?? assert.fail(text);
const addressesOf = ({ received }: MailReceiver) => received.flatMap(({ to }) => to).toSorted();

describe("requested links", () => {
  it("are sent to the member, signing in once within an hour, and leave no trace in the log", async () => {
    await using receiver = await openMailReceiver();
    const { log, lines } = openKeptLog();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port), { log });
    const context = await fixture.newAccount("Fréttastofa");
    const { accountId } = callerOf(context);
    const name = await fixture.invite(context, { email: "Anna@example.is" });
    await ask("anna@EXAMPLE.is");
    await until(async () => receiver.received.length === 1);
    const [message] = receiver.received;
    const text = message?.parts.get("text/plain") ?? "";
    assert.deepEqual(message?.to, ["anna@example.is"]);
    assert.match(text, /^Hér er tengillinn sem beðið var um .* „Fréttastofa“/);
    const token = tokenIn(text);
    const { db } = fixture.database;
    const { rows } = await fixture.database.pool.query<{ minutes: number }>(
      "select round(extract(epoch from expires_at - now()) / 60)::int as minutes from sign_in_token",
    );
    assert.deepEqual(rows, [{ minutes: 60 }]);
    assert.deepEqual(await takeSignInToken(db, token), {
      owner: { accountId, memberId: name.replace("members/", "") },
      isGood: true,
    });
    assert.equal(await takeSignInToken(db, token), undefined);
    const events = await db
      .selectFrom("audit_event")
      .select(["actor", "outcome", "address", "request_id"])
      .where("action", "=", "sign_in_token.request")
      .where("account_id", "=", accountId)
      .execute();
    const event = { actor: name, outcome: "OK", address: "192.0.2.7", request_id: "r-77" };
    assert.deepEqual(events, [event]);
    await until(async () => lines.some((line) => line.event === "mail.sent"));
    assert.ok(lines.some((line) => line["action"] === "sign_in_token.request"));
    const all = JSON.stringify(lines);
    for (const secret of [token, "example.is", "anna"]) assert.ok(!all.includes(secret), secret);
  });

  it("go to each account of the person with a link of its own, but not to disabled accounts", async () => {
    await using receiver = await openMailReceiver();
    const contexts = [
      await fixture.newAccount("Annáll"),
      await fixture.newAccount("Bókasafn"),
      await fixture.newAccount("Lokað"),
    ];
    for (const context of contexts) await fixture.invite(context, { email: "gudrun@example.is" });
    await fixture.invite(contexts[0] ?? assert.fail(), { email: "other@example.is" });
    await fixture.database.db
      .updateTable("account")
      .set({ disabled_at: new Date() })
      .where("display_name", "=", "Lokað")
      .execute();
    await ask("gudrun@example.is", "en");
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    await until(async () => receiver.received.length === 2);
    assert.equal((await fixture.rows()).length, 2);
    const texts = receiver.received.map(({ parts }) => parts.get("text/plain") ?? "");
    const named = texts.map((text) => /“(.*)”/.exec(text)?.[1]);
    assert.deepEqual(new Set(named), new Set(["Annáll", "Bókasafn"]));
    const owners = await Promise.all(
      texts.map((text) => takeSignInToken(fixture.database.db, tokenIn(text))),
    );
    assert.deepEqual(
      new Set(owners.map((taken) => taken?.owner.accountId)),
      new Set(contexts.slice(0, 2).map((context) => callerOf(context).accountId)),
    );
    assert.deepEqual(addressesOf(receiver), ["gudrun@example.is", "gudrun@example.is"]);
  });

  it("to unknown addresses, and to members who were removed, are forgotten without a mail", async () => {
    const context = await fixture.newAccount();
    const name = await fixture.invite(context, { email: "gone@example.is" });
    await fixture.database.db
      .deleteFrom("member")
      .where("id", "=", name.replace("members/", ""))
      .execute();
    await ask("gone@example.is");
    await ask("stranger@example.is");
    await using receiver = await openMailReceiver();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    await until(isAnswered);
    assert.deepEqual(await fixture.rows(), []);
    assert.equal(receiver.connections, 0);
  });

  it("neither replace the links of owners, nor count in their limits, nor show as an invitation", async () => {
    const context = await fixture.newAccount();
    const name = await fixture.invite(context, { email: "bjarni@example.is" });
    await using receiver = await openMailReceiver();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    await fixture.send(context, name);
    await until(async () => receiver.received.length === 1);
    const invitation = tokenIn(receiver.received[0]?.parts.get("text/plain"));
    for (let count = 2; count <= 5; count += 1) {
      await ask("bjarni@example.is");
      await until(async () => receiver.received.length === count);
      // Two requests while a mail waits get one mail.
      await until(async () => (await fixture.rows()).every(({ state }) => state === "SENT"));
    }
    const [member] = await fixture.list(context);
    const [first] = await fixture.rows();
    assert.equal(
      member?.invitationMail?.creationTime?.seconds,
      BigInt(Math.floor((first?.created_at.getTime() ?? 0) / 1000)),
    );
    assert.equal((await takeSignInToken(fixture.database.db, invitation))?.isGood, true);
    // An invitation is still the second of five that are allowed; a new one ends all links.
    for (let count = 1; count < 5; count += 1) await fixture.send(context, name);
    const late = tokenIn(receiver.received[4]?.parts.get("text/plain"));
    assert.equal(await takeSignInToken(fixture.database.db, late), undefined);
  });

  it("wait for the mail server in one mail, for an hour", async () => {
    const context = await fixture.newAccount();
    await fixture.invite(context, { email: "waits@example.is" });
    await using receiver = await openMailReceiver({ refuses: () => 451 });
    {
      await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
      for (let count = 0; count < 3; count += 1) {
        await ask("waits@example.is");
        await until(isAnswered);
      }
    }
    const [row, ...others] = await fixture.rows();
    assert.equal(others.length, 0);
    assert.equal(row?.state, "PENDING");
    assert.equal(Number(row.give_up_at) - Number(row.created_at), 3_600_000);
    assert.equal(await counted("sign_in_token"), 0);
  });

  it("for one address that two workers answer at the same time wait in one mail", async () => {
    const context = await fixture.newAccount();
    await fixture.invite(context, { email: "both@example.is" });
    for (let count = 0; count < 2; count += 1) await ask("both@example.is");
    const { db, pool } = fixture.database;
    const { log } = openKeptLog();
    const { signal } = new AbortController();
    const holder = await pool.connect();
    let answered: Promise<unknown>;
    try {
      await holder.query("begin");
      await holder.query("select from member where email = 'both@example.is' for update");
      answered = Promise.all([
        answerLinkRequests({ db, log }, signal),
        answerLinkRequests({ db, log }, signal),
      ]);
      // Each has one of the requests: one waits for the member, and the other one for the address.
      await until(async () => {
        const { rowCount } = await pool.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rowCount === 2;
      });
      await holder.query("commit");
    } finally {
      holder.release();
    }
    await answered;
    assert.equal((await fixture.rows()).length, 1);
    assert.equal(await counted("link_request"), 0);
    const events = await db
      .selectFrom("audit_event")
      .select("id")
      .where("action", "=", "sign_in_token.request")
      .where("account_id", "=", callerOf(context).accountId)
      .execute();
    assert.equal(events.length, 2);
  });

  it("are answered although an earlier one fails, which is answered once it can be", async () => {
    await using receiver = await openMailReceiver();
    const [failing, other] = [await fixture.newAccount(), await fixture.newAccount()];
    await fixture.invite(failing, { email: "failing@example.is" });
    await fixture.invite(other, { email: "next@example.is" });
    const { accountId } = callerOf(failing);
    const { pool } = fixture.database;
    // Nothing can be added to the audit log of the first account.
    await pool.query(
      `alter table audit_event add constraint none check (account_id <> '${accountId}') not valid`,
    );
    const { log, lines } = openKeptLog();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port), { log });
    try {
      await ask("failing@example.is");
      await ask("next@example.is");
      await until(async () => receiver.received.length === 1);
      assert.deepEqual(addressesOf(receiver), ["next@example.is"]);
      assert.equal(await counted("link_request"), 1);
      await until(async () => lines.some(({ event }) => event === "mail.requests_failed"));
    } finally {
      await pool.query("alter table audit_event drop constraint none");
    }
    await until(async () => receiver.received.length === 2);
    assert.deepEqual(addressesOf(receiver), ["failing@example.is", "next@example.is"]);
    assert.ok(await isAnswered());
  });

  it("are not sent by a worker that comes an hour late, and are deleted with old limits", async () => {
    const context = await fixture.newAccount();
    await fixture.invite(context, { email: "anna@example.is" });
    const { pool, db } = fixture.database;
    const age = async (interval: string) => {
      await pool.query("update link_request set created_at = created_at - $1::interval", [
        interval,
      ]);
      await pool.query("update link_request_limit set full_at = full_at - $1::interval", [
        interval,
      ]);
    };
    await ask("anna@example.is");
    await age("61 minutes");
    await using receiver = await openMailReceiver();
    {
      await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
      await until(isAnswered);
    }
    assert.deepEqual(await fixture.rows(), []);
    // Without a worker, the sweep of the archive deletes them.
    const { log } = openKeptLog();
    await ask("stranger@example.is");
    await removeOldSessions({ db, log });
    assert.equal(await counted("link_request"), 1);
    await age("1 day");
    await removeOldSessions({ db, log });
    assert.equal(await counted("link_request"), 0);
    assert.deepEqual(await db.selectFrom("link_request_limit").selectAll().execute(), []);
  });

  it(`go to at most ${accountsMax} accounts, those that were used last`, async () => {
    for (let at = 0; at <= accountsMax; at += 1) {
      const name = await fixture.invite(await fixture.newAccount(`Nr. ${at}`), {
        email: "many@example.is",
      });
      await fixture.database.db
        .updateTable("member")
        .set({ last_sign_in_at: at === 0 ? null : new Date(1_000_000 * at) })
        .where("id", "=", name.replace("members/", ""))
        .execute();
    }
    await ask("many@example.is");
    await using receiver = await openMailReceiver();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    await until(async () => receiver.received.length === accountsMax);
    await until(async () => (await fixture.rows()).every(({ state }) => state === "SENT"));
    const texts = receiver.received.map(({ parts }) => parts.get("text/plain") ?? "");
    assert.equal(texts.length, accountsMax);
    assert.ok(!texts.some((text) => text.includes("Nr. 0")));
  });
});
