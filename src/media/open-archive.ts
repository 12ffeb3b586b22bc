import type { Kysely } from "kysely";
import { openExistingDatabase } from "../database/open-existing.ts";
import type { Tables } from "../database/tables.ts";
import { createLog } from "../std/log.ts";
import { examineArchive } from "./archive-identity.ts";
import type { ArchiveSettings } from "./archive-place.ts";
import { quarantineReasons, withoutDeletions } from "./archive-quarantine.ts";
import { refusalOf } from "./archive-refusal.ts";
import type { MediaStore } from "./media-store.ts";
import { openMediaStore } from "./open-media-store.ts";

export type { ArchiveSettings } from "./archive-place.ts";

/** All that a service keeps, for a command that runs beside it. */
export interface OpenArchive extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  /**
   * Why the archive may be a copy of one that goes on elsewhere: then the store loses nothing.
   * None: it is no copy.
   */
  readonly quarantine: readonly string[];
}

/**
 * Opens the archive of a service, as openExistingDatabase() does its database. Rejects with a
 * sentence for the operator where database and media store are not of one archive. Marks nothing:
 * the first service does.
 */
export async function openArchive(settings: ArchiveSettings): Promise<OpenArchive> {
  await using opened = new AsyncDisposableStack();
  const archive = opened.use(await openAnyArchive(settings));
  const parts = { ...archive, settings };
  const verdict = await examineArchive(parts);
  if (verdict.kind === "refused") throw refusalOf(verdict.why, settings);
  const quarantine = verdict.kind === "same" ? await quarantineReasons(parts, verdict.row) : [];
  const store = quarantine.length === 0 ? archive.store : withoutDeletions(archive.store);
  const open = opened.move();
  return { ...archive, store, quarantine, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/**
 * The same without asking whether database and store go together: for who is to bring them
 * together.
 */
export async function openAnyArchive(
  settings: ArchiveSettings,
): Promise<Omit<OpenArchive, "quarantine">> {
  await using parts = new AsyncDisposableStack();
  const { db } = parts.use(await openExistingDatabase(settings));
  const log = createLog("silent");
  const store = parts.use(await openMediaStore(settings, { log, sweeps: false }));
  const opened = parts.move();
  return { db, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
