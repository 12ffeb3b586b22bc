import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import type { Database } from "../../src/database/database.ts";
import { sweepMedia } from "../../src/media/sweep-media.ts";
import type { MediaStore } from "../../src/media/media-store.ts";
import { createLog } from "../../src/std/log.ts";
import { allProcesses } from "./process.ts";

const hourMs = 3_600_000;

/**
 * Asserts that jobs have left nothing behind: no scratch files, decoders or pieces, and no media
 * without a transcript or an upload. A kill may leave files without a row, which the hourly sweep
 * removes.
 */
export async function assertTidy(parts: {
  readonly database: Pick<Database, "db">;
  readonly store: MediaStore;
  readonly scratchFolders: readonly string[];
}): Promise<void> {
  const { store, scratchFolders } = parts;
  const { db } = parts.database;
  for (const folder of scratchFolders) {
    assert.deepEqual(readdirSync(folder), [], "scratch files");
    const programs = allProcesses().filter(({ command }) => command.includes(folder));
    assert.deepEqual(programs, [], "programs that decode");
  }
  const inAnHour = () => Date.now() + hourMs;
  await sweepMedia({ db, store, log: createLog("silent"), now: inAnHour });
  const kept = await Array.fromAsync(store.list());
  const transcripts = db.selectFrom("transcript").select("media_id");
  // The upload of a failed job remains available to another job.
  const uploads = db.selectFrom("upload").select("media_id").where("media_id", "is not", null);
  const rows = await transcripts.union(uploads).execute();
  const wanted = new Set(rows.map(({ media_id }) => media_id));
  assert.deepEqual(new Set(kept.map(({ id }) => id)), wanted, "media");
  assert.deepEqual(await db.selectFrom("transcript_job_piece").selectAll().execute(), []);
}
