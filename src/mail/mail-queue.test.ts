// What is written down about an attempt, when the database or a worker fails meanwhile.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import type { KyselyPlugin } from "kysely";
import { pino } from "pino";
import { freePort } from "../../test/fixtures/free-port.ts";
import {
  mailOptionsFor,
  openMailFixture,
  type MailFixture,
} from "../../test/fixtures/mail-fixture.ts";
import { openMailReceiver } from "../../test/fixtures/mail-receiver.ts";
import { openKeptLog } from "../../test/fixtures/kept-log.ts";
import { openCutDatabase } from "../../test/fixtures/open-cut-database.ts";
import { until } from "../../test/fixtures/until.ts";
import { beginAttempt, leaseMail, noteSent, releaseMail, sweepMail } from "./mail-queue.ts";

let fixture: MailFixture;
before(async () => {
  fixture = await openMailFixture();
});
after(() => fixture[Symbol.asyncDispose]());
beforeEach(async () => {
  await fixture.database.pool.query("delete from invitation_mail");
});

const outcome = (row: Awaited<ReturnType<MailFixture["rows"]>>[number] | undefined) => [
  row?.state,
  row?.tries,
  row?.unnoted,
];

const isSent = async () => (await fixture.rows())[0]?.state === "SENT";

describe("the mail worker", () => {
  it("writes down after an outage of the database that the server has accepted a mail, and sends it once", async () => {
    await using cut = await openCutDatabase(fixture.database);
    let updates = 0;
    // Statements of the worker that change a mail, also those that fail.
    const counts: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind === "UpdateQueryNode") updates += 1;
        return node;
      },
      transformResult: async ({ result }) => await Promise.resolve(result),
    };
    await using receiver = await openMailReceiver({
      async onMessage() {
        await cut.cut();
        updates = 0;
      },
    });
    const database = { db: cut.db.withPlugin(counts) };
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port), { database });
    try {
      await until(() => Promise.resolve(updates >= 2), 60_000);
      assert.deepEqual(outcome((await fixture.rows())[0]), ["PENDING", 1, 1]);
      // The outage is longer than the lease, and another node leases the mail first.
      await fixture.shift("-1 hour");
      assert.equal((await leaseMail(fixture.database.db, { leaseMs: 60_000, room: 4 })).length, 1);
    } finally {
      await cut.repair();
    }
    await until(isSent, 60_000);
    assert.deepEqual(outcome((await fixture.rows())[0]), ["SENT", 2, 0]);
    assert.equal(receiver.received.length, 1);
  });

  it("does not lease a mail again that it is sending", async () => {
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    const another = Promise.withResolvers<void>();
    let messages = 0;
    await using receiver = await openMailReceiver({
      async onMessage() {
        messages += 1;
        if (messages > 1) return;
        await fixture.shift("-1 hour");
        await fixture.send(context, await fixture.invite(context));
        await another.promise;
      },
    });
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    // The lease that found the other mail had found this one first.
    await until(async () => (await fixture.rows())[1]?.tries === 1, 60_000);
    assert.deepEqual(outcome((await fixture.rows())[0]), ["PENDING", 1, 1]);
    another.resolve();
    await until(isSent, 60_000);
  });

  for (const isRepaired of [true, false]) {
    const then = isRepaired
      ? "releases a mail if it returns soon after"
      : "logs the error of the database";
    it(`that stops while the database is down ${then}`, async () => {
      await using cut = await openCutDatabase(fixture.database);
      let queries = 0;
      const counts: KyselyPlugin = {
        transformQuery({ node }) {
          queries += 1;
          return node;
        },
        transformResult: async ({ result }) => await Promise.resolve(result),
      };
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = server.address();
      assert.ok(typeof address === "object" && address);
      const connected = once(server, "connection");
      const context = await fixture.newAccount();
      await fixture.send(context, await fixture.invite(context));
      const { log, of } = openKeptLog();
      const database = { db: cut.db.withPlugin(counts) };
      const worker = fixture.openWorker(mailOptionsFor(address.port), {
        database,
        log,
        ...(isRepaired && { noteMsMax: 60_000 }),
      });
      const [socket] = await connected;
      await cut.cut();
      const stopped = worker[Symbol.asyncDispose]();
      // It leases no more mail.
      queries = 0;
      await once(socket.resume(), "close");
      server.close();
      await until(() => Promise.resolve(queries >= 1));
      if (isRepaired) await cut.repair();
      await stopped;
      if (!isRepaired) await cut.repair();
      const [row] = await fixture.rows();
      assert.deepEqual(outcome(row), isRepaired ? ["PENDING", 0, 0] : ["PENDING", 1, 1]);
      const lost = of("mail.lost");
      assert.equal(lost.length, isRepaired ? 0 : 1);
      assert.ok(lost.every((line) => /ENOENT|ECONNREFUSED/.test(JSON.stringify(line))));
    });
  }

  it("records that a mail was accepted also if it was given up meanwhile, but not twice", async () => {
    const { db, pool } = fixture.database;
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    const [mail = assert.fail()] = await leaseMail(db, { leaseMs: 60_000, room: 4 });
    await pool.query("update invitation_mail set state = 'FAILED', problem = 'OUTCOME_UNKNOWN'");
    assert.equal(await noteSent(db, mail), true);
    assert.equal(await noteSent(db, mail), false);
    const [row = assert.fail()] = await fixture.rows();
    assert.deepEqual([row.state, row.problem], ["SENT", null]);
  });

  it("sends a mail whose leases ended before an attempt began", async () => {
    const { db, pool } = fixture.database;
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    const leases = [];
    for (const count of [1, 2, 3]) {
      leases.push(...(await leaseMail(db, { leaseMs: 60_000, room: 4 })));
      assert.equal(leases.length, count);
      await pool.query("update invitation_mail set due_at = now()");
    }
    const [lost = assert.fail(), , held = assert.fail()] = leases;
    const begin = { needsToken: false, leaseMs: 60_000 };
    assert.equal(await beginAttempt(db, lost, begin), undefined);
    assert.deepEqual(outcome((await fixture.rows())[0]), ["PENDING", 3, 0]);
    // An attempt whose answer was lost begins once, with the whole time of its lease.
    for (const _ of [1, 2]) assert.ok(await beginAttempt(db, held, begin));
    assert.deepEqual(outcome((await fixture.rows())[0]), ["PENDING", 3, 1]);
    assert.deepEqual(await leaseMail(db, { leaseMs: 60_000, room: 4 }), []);
    for (const _ of [1, 2]) await releaseMail(db, held);
    assert.deepEqual(outcome((await fixture.rows())[0]), ["PENDING", 2, 0]);
    await using receiver = await openMailReceiver();
    await using _worker = fixture.openWorker(mailOptionsFor(receiver.port));
    await until(isSent, 60_000);
    assert.equal(receiver.received.length, 1);
  });

  it("gives up mail in batches, with a line of the log for each", async () => {
    const context = await fixture.newAccount();
    await fixture.send(context, await fixture.invite(context));
    const { pool, db } = fixture.database;
    await pool.query(
      `insert into invitation_mail (id, account_id, member_id, email, language, inviter, due_at, give_up_at, problem)
       select gen_random_uuid(), account_id, member_id, 'anna@example.is', 'is', '', now(), now(),
         case when n % 2 = 0 then 'POSTPONED' end
       from invitation_mail, generate_series(1, 1500) n`,
    );
    const batches = await Array.fromAsync(sweepMail(db, new AbortController().signal));
    assert.deepEqual(
      batches.map(({ length }) => length),
      [1000, 500],
    );
    await pool.query("update invitation_mail set state = 'PENDING' where give_up_at <= now()");
    const lines: string[] = [];
    const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
    const over = "give_up_at <= now() and state = 'FAILED'";
    {
      await using _worker = fixture.openWorker(mailOptionsFor(await freePort()), { log });
      await until(
        async () =>
          (await pool.query(`select from invitation_mail where ${over}`)).rowCount === 1500,
      );
    }
    const ended = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === "mail.given_up");
    const { rows } = await pool.query(
      `select id as "mailId", problem from invitation_mail where ${over} order by id`,
    );
    assert.deepEqual(
      ended
        .map(({ mailId, problem }) => ({ mailId, problem }))
        .toSorted((one, other) => (one.mailId < other.mailId ? -1 : 1)),
      rows,
    );
    assert.ok(new Set(rows.map(({ problem }) => problem)).has("TIME_OVER"));
    assert.ok(!lines.join("").includes("anna@example.is"));
  });
});
