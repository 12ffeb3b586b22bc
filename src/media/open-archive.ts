import type { Kysely } from "kysely";
import type { Database } from "../database/database.ts";
import { openExistingDatabase } from "../database/open-existing.ts";
import type { Tables } from "../database/tables.ts";
import { createLog } from "../std/log.ts";
import { examineArchive } from "./archive-identity.ts";
import type { ArchiveSettings } from "./archive-place.ts";
import { quarantineReasons, withoutDeletions } from "./archive-quarantine.ts";
import { withHolds } from "./media-hold.ts";
import { refusalOf } from "./archive-refusal.ts";
import type { MediaStore } from "./media-store.ts";
import { openMediaStore } from "./open-media-store.ts";

export type { ArchiveSettings } from "./archive-place.ts";

/** The archive of a service, for a command that can run at the same time as the service. */
export interface OpenArchive extends AsyncDisposable {
  readonly db: Kysely<Tables>;
  /** Opens a connection of its own to the database, without limits of time. */
  readonly connect: Database["connect"];
  readonly store: MediaStore;
  /**
   * The reasons why the archive may be a copy of one used elsewhere, in which case the store
   * deletes nothing. Empty if the archive is not a copy.
   */
  readonly quarantine: readonly string[];
}

/**
 * Opens the archive of a service. The database is opened as in openExistingDatabase(). Rejects with
 * a sentence for the operator if the database and media store do not belong to one archive. Does
 * not mark a new archive: the first service does that.
 */
export async function openArchive(settings: ArchiveSettings): Promise<OpenArchive> {
  await using opened = new AsyncDisposableStack();
  const archive = opened.use(await openAnyArchive(settings));
  const parts = { ...archive, settings };
  const verdict = await examineArchive(parts);
  if (verdict.kind === "refused") throw refusalOf(verdict.why, settings);
  const quarantine = verdict.kind === "same" ? await quarantineReasons(parts, verdict.row) : [];
  const store =
    quarantine.length === 0
      ? withHolds(archive.store, { db: archive.db, log: createLog("silent") })
      : withoutDeletions(archive.store);
  const open = opened.move();
  return { ...archive, store, quarantine, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/**
 * Opens an archive without checking that the database and store belong together, so that they can
 * be joined.
 */
export async function openAnyArchive(
  settings: ArchiveSettings,
): Promise<Omit<OpenArchive, "quarantine">> {
  await using parts = new AsyncDisposableStack();
  const { db, connect } = parts.use(await openExistingDatabase(settings));
  const log = createLog("silent");
  const store = parts.use(await openMediaStore(settings, { log, sweeps: false }));
  const opened = parts.move();
  return { db, connect, store, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
