import assert from "node:assert/strict";
import { test } from "node:test";
import { sql, type Transaction } from "kysely";
import { openTestDatabase } from "../../../test/fixtures/open-test-database.ts";
import type { Tables } from "../../database/tables.ts";
import { IdleWorkers } from "./idle-workers.ts";

test("`IdleWorkers` tells what another one wants, once, while that goes on saying so", async () => {
  await using database = await openTestDatabase();
  // In a transaction the clock of the database stands still.
  await database.db.transaction().execute(tellEachOther);
});

async function tellEachOther(db: Transaction<Tables>): Promise<void> {
  /** As one that has not asked yet: answers hold for a moment. */
  const areThere = async (): Promise<boolean> => await new IdleWorkers(db).areThere();
  const shift = async (interval: string): Promise<void> => {
    await sql`update idle_worker set seen_at = now() + ${interval}::interval`.execute(db);
  };
  const rows = async (): Promise<number> =>
    (await db.selectFrom("idle_worker").select("id").execute()).length;
  const [busy, idle] = [new IdleWorkers(db), new IdleWorkers(db)];

  assert.equal(await busy.answer(), 0, "nobody is there");
  await idle.untell();
  assert.equal(await areThere(), false);
  assert.equal(await idle.tell(3), true);
  assert.equal(await idle.tell(3), false, "nothing new");
  assert.equal(await areThere(), true);
  assert.equal(await idle.areThere(), false, "to itself it is no other one");
  assert.equal(await idle.answer(), 0);
  assert.equal(await busy.answer(), 3);
  assert.equal(await busy.answer(), 0, "told once");
  assert.equal(await areThere(), true, "it stands idle until it has what it wants");

  for (const away of ["-4 seconds", "4 seconds"]) {
    await shift(away);
    assert.equal(await areThere(), false, away);
    await db.updateTable("idle_worker").set({ wanted: 3 }).execute();
    assert.equal(await busy.answer(), 0, away);
  }
  await idle.untell();
  assert.equal(await rows(), 0);
  assert.equal(await idle.tell(1), true);
  assert.equal(await rows(), 1, "it says so again at once");
  await busy.sweep();
  assert.equal(await rows(), 1);
  await shift("-2 minutes");
  await busy.sweep();
  assert.equal(await rows(), 0, "what was killed leaves nothing");
}
