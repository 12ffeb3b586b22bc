import assert from "node:assert/strict";
import { test } from "node:test";
import { sql, type Transaction } from "kysely";
import { openTestDatabase } from "../../../test/fixtures/open-test-database.ts";
import type { Tables } from "../../database/tables.ts";
import { IdleWorkers } from "./idle-workers.ts";

test("`IdleWorkers` passes on each request of an idle worker once, while that worker advertises itself", async () => {
  await using database = await openTestDatabase();
  // In a transaction the clock of the database does not advance.
  await database.db.transaction().execute(exchangeRequests);
});

async function exchangeRequests(db: Transaction<Tables>): Promise<void> {
  /** Asks as a worker that has not asked yet, since results are cached for a moment. */
  const anyIdle = async (): Promise<boolean> => await new IdleWorkers(db).anyIdle();
  const shift = async (interval: string): Promise<void> => {
    await sql`update idle_worker set seen_at = now() + ${interval}::interval`.execute(db);
  };
  const rows = async (): Promise<number> =>
    (await db.selectFrom("idle_worker").select("id").execute()).length;
  const [busy, idle] = [new IdleWorkers(db), new IdleWorkers(db)];

  assert.equal(await busy.claimRequest(), 0, "no worker is idle");
  await idle.withdraw();
  assert.equal(await anyIdle(), false);
  assert.equal(await idle.advertise(3), true);
  assert.equal(await idle.advertise(3), false, "nothing new");
  assert.equal(await anyIdle(), true);
  assert.equal(await idle.anyIdle(), false, "to itself it is no other one");
  assert.equal(await idle.claimRequest(), 0);
  assert.equal(await busy.claimRequest(), 3);
  assert.equal(await busy.claimRequest(), 0, "claimed once");
  assert.equal(await anyIdle(), true, "it is idle until it has jobs");

  for (const away of ["-4 seconds", "4 seconds"]) {
    await shift(away);
    assert.equal(await anyIdle(), false, away);
    await db.updateTable("idle_worker").set({ wanted: 3 }).execute();
    assert.equal(await busy.claimRequest(), 0, away);
  }
  await idle.withdraw();
  assert.equal(await rows(), 0);
  assert.equal(await idle.advertise(1), true);
  assert.equal(await rows(), 1, "it is advertised again at once");
  await busy.sweep();
  assert.equal(await rows(), 1);
  await shift("-2 minutes");
  await busy.sweep();
  assert.equal(await rows(), 0, "a worker that was killed leaves nothing");
}
