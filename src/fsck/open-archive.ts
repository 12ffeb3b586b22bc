import { stat } from "node:fs/promises";
import { join } from "node:path";
import { openDatabase } from "../database/database.ts";
import { openMediaStore, type MediaStoreSettings } from "../media/open-media-store.ts";
import { createLog } from "../std/log.ts";
import type { Archive } from "./archive.ts";

/** What of the settings says where the archive is. */
export interface ArchiveSettings extends MediaStoreSettings {
  readonly databaseUrl: string | undefined;
}

/**
 * Opens the archive of a service, whether it runs or not: a server of the service's own is shared with it, and stopped again
 * only by who uses it last. Rejects with a sentence for the operator where there is none; nothing is made.
 */
export async function openArchive(
  settings: ArchiveSettings,
): Promise<Pick<Archive, "db" | "store"> & AsyncDisposable> {
  const { dataFolder, databaseUrl } = settings;
  const folder = join(dataFolder, "postgres");
  if (databaseUrl === undefined && !(await isThere(folder))) {
    throw new Error(
      `there is no archive in ${dataFolder}: HLUST_DATA or DATABASE_URL says where one is`,
    );
  }
  await using parts = new AsyncDisposableStack();
  const log = createLog("silent");
  const { db } = parts.use(await openDatabase({ url: databaseUrl, folder, log }));
  const store = parts.use(await openMediaStore(settings, { log, sweeps: false }));
  const opened = parts.move();
  return { db, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
