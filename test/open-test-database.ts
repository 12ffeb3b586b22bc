import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase, type Database } from "../src/database/database.ts";
import { createLog } from "../src/std/log.ts";
import { seedPostgres } from "./seed-postgres.ts";

/** A migrated database of its own for a test, on a PostgreSQL of its own; both are gone when it is disposed of. */
export async function openTestDatabase(): Promise<Database & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "hlust-test-"));
  await using opened = new AsyncDisposableStack();
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  await seedPostgres(join(folder, "postgres"));
  const database = opened.use(
    await openDatabase({
      url: undefined,
      folder: join(folder, "postgres"),
      log: createLog("silent"),
      durable: false,
    }),
  );
  const parts = opened.move();
  return {
    db: database.db,
    pool: database.pool,
    migrated: database.migrated,
    ping: () => database.ping(),
    folder,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
