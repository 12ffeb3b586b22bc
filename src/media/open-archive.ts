import type { Kysely } from "kysely";
import { type DatabaseSettings, openExistingDatabase } from "../database/open-existing.ts";
import type { Tables } from "../database/tables.ts";
import { createLog } from "../std/log.ts";
import type { MediaStore } from "./media-store.ts";
import { type MediaStoreSettings, openMediaStore } from "./open-media-store.ts";

/** What of the settings says where the archive is. */
export interface ArchiveSettings extends MediaStoreSettings, DatabaseSettings {}

/** All that a service keeps, for a command that runs beside it. */
export interface OpenArchive extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
}

/** Opens the archive of a service, as openExistingDatabase() does its database. */
export async function openArchive(settings: ArchiveSettings): Promise<OpenArchive> {
  await using parts = new AsyncDisposableStack();
  const { db } = parts.use(await openExistingDatabase(settings));
  const log = createLog("silent");
  const store = parts.use(await openMediaStore(settings, { log, sweeps: false }));
  const opened = parts.move();
  return { db, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
