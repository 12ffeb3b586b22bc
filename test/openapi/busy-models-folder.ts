import { join } from "node:path";
import { openDatabase } from "../../src/database/database.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import type { TestService } from "../spec/service.ts";

/**
 * Makes the nodes of a models folder leave its tasks waiting, as while another node with the folder
 * does one, until the result is disposed of.
 */
export async function openBusyModelsFolder(
  { dataFolder }: TestService,
  folderId: string,
): Promise<AsyncDisposable> {
  await using parts = new AsyncDisposableStack();
  const folder = join(dataFolder, "postgres");
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: undefined, folder, log }));
  const id = newId();
  const leasedUntil = new Date(Date.now() + 3_600_000);
  const task = { id, folder_id: folderId, host: "other", kind: "TEST", model: "other" } as const;
  await db
    .insertInto("model_task")
    .values({ ...task, state: "RUNNING", leased_until: leasedUntil })
    .execute();
  parts.defer(async () => {
    await db.deleteFrom("model_task").where("id", "=", id).execute();
  });
  return parts.move();
}
