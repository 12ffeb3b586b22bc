import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { withBundledPackages } from "../../test/fixtures/bundled-program.ts";
import { openReceiver, openWebhooks, signedBy } from "../../test/fixtures/webhooks-fixture.ts";
import { until } from "../../test/fixtures/until.ts";

/** The timeout of each attempt; the lease is twice as long. */
const timeoutMs = 1_000;

test("a message is sent again if its worker was killed after the receiver accepted it and before the acceptance was recorded", async () => {
  await using fixture = await openWebhooks();
  await using receiver = await openReceiver();
  const account = await fixture.addAccount();
  const { id, secret } = await fixture.make(account, { url: receiver.url });
  await fixture.notify(account);
  const { pool } = fixture.database;
  const program = new URL("../../test/fixtures/delivery-process.ts", import.meta.url).pathname;
  const child = spawn(
    process.execPath,
    [...withBundledPackages, program, fixture.folder, `${timeoutMs}`],
    {
      stdio: "inherit",
    },
  );
  const gone = once(child, "exit");
  const locker = await pool.connect();
  try {
    // Writing the outcome waits for this lock.
    await locker.query("begin");
    await locker.query("select from webhook where id = $1 for update", [id]);
    await until(async () => {
      const { rows } = await pool.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%webhook%'",
      );
      return rows.length > 0;
    }, 60_000);
    assert.equal(receiver.received.length, 1);
  } finally {
    child.kill("SIGKILL");
    await gone;
    await locker.query("rollback");
    locker.release();
  }
  const [left] = await fixture.deliveries(id);
  assert.deepEqual([left?.state, left?.attempts], ["PENDING", 1]);
  await using _next = fixture.openWorker({ timeoutMs });
  await until(async () => (await fixture.deliveries(id))[0]?.state === "DELIVERED");
  const [first, second] = receiver.received;
  assert.ok(first && second);
  assert.equal(receiver.received.length, 2);
  assert.deepEqual([second.id, second.body], [first.id, first.body]);
  for (const message of receiver.received) assert.deepEqual(signedBy(secret, message), [true]);
  assert.equal((await fixture.deliveries(id))[0]?.attempts, 2);
});
