import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { withBundledPackages } from "../../test/fixtures/bundled-program.ts";
import { mailOptionsFor, openMailFixture } from "../../test/fixtures/mail-fixture.ts";
import { openMailReceiver } from "../../test/fixtures/mail-receiver.ts";
import { until } from "../../test/fixtures/until.ts";

const timeoutMs = 60_000;
/** The statements that wait for the lock of the test. */
const waiting =
  "from pg_stat_activity where wait_event_type = 'Lock' and query like '%invitation_mail%'";

test("a mail whose workers were killed before they recorded its acceptance is sent twice, and not more often", async () => {
  await using fixture = await openMailFixture();
  const { pool } = fixture.database;
  const locker = await pool.connect();
  const isWaiting = async () => (await pool.query(`select ${waiting}`)).rows.length > 0;
  let arrived = 0;
  // The server accepts the message, but writing that down waits for this lock.
  await using receiver = await openMailReceiver({
    async onMessage() {
      await locker.query("begin");
      await locker.query("select from invitation_mail for update");
      arrived += 1;
    },
  });
  const context = await fixture.newAccount();
  await fixture.send(context, await fixture.invite(context));
  const program = new URL("../../test/fixtures/mail-process.ts", import.meta.url).pathname;
  const args = [fixture.database.folder, `${receiver.port}`, `${timeoutMs}`];
  for (const count of [1, 2]) {
    const child = spawn(process.execPath, [...withBundledPackages, program, ...args], {
      stdio: "inherit",
    });
    const gone = once(child, "exit");
    try {
      await until(async () => arrived === count && (await isWaiting()), 60_000);
    } finally {
      child.kill("SIGKILL");
      await gone;
      // The statement of the dead process would still be executed.
      await pool.query(`select pg_terminate_backend(pid) ${waiting}`);
      await until(async () => !(await isWaiting()));
      await locker.query("rollback");
    }
    const [left] = await fixture.rows();
    assert.deepEqual([left?.state, left?.tries, left?.unnoted], ["PENDING", count, count]);
    // The lease of the dead worker ends.
    await pool.query("update invitation_mail set due_at = now()");
  }
  locker.release();
  const options = mailOptionsFor(receiver.port);
  await using _worker = fixture.openWorker(options, { timeoutMs, sweepMs: 50 });
  await until(async () => (await fixture.rows())[0]?.state === "FAILED");
  const [row] = await fixture.rows();
  assert.deepEqual([row?.problem, row?.tries], ["OUTCOME_UNKNOWN", 2]);
  const ids = receiver.received.map(({ headers }) => headers.get("message-id"));
  assert.deepEqual(ids, [`<${row?.id}@example.org>`, `<${row?.id}@example.org>`]);
  // Either message has a link that works.
  const { rows } = await pool.query("select id from sign_in_token");
  assert.equal(rows.length, 2);
});
