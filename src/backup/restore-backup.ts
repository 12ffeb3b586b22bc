import { Kysely, PostgresDialect } from "kysely";
import type pg from "pg";
import { checkDatabase } from "../database/check-database.ts";
import { connect } from "../database/database.ts";
import { migrate, migrations } from "../database/migrate.ts";
import type { Tables } from "../database/tables.ts";
import type { ArchiveSettings } from "../media/archive-place.ts";
import { openMediaStore } from "../media/open-media-store.ts";
import { newId } from "../std/ids.ts";
import { createLog } from "../std/log.ts";
import type { BackupMedia } from "./backup-media.ts";
import { BackupError, readManifest, type Manifest } from "./backup-format.ts";
import {
  lacksDatabase,
  openRestoredDatabase,
  requireEmptyStore,
  unfinishedIn,
  type RestoredDatabase,
} from "./empty-place.ts";
import { loadTables } from "./load-tables.ts";
import type { OnProgress } from "./progress.ts";
import { readMedia } from "./read-rows.ts";
import { restoreMedia } from "./restore-media.ts";
import { newNote, noteStatement, type RestoreNote } from "./restore-note.ts";
import { settleRestored, type Settled } from "./settle-restored.ts";
import { problemsOf } from "./verify-backup.ts";

export interface RestoreOptions {
  readonly asCopy: boolean;
  readonly onProgress: OnProgress;
  /** Where the media is, if not in the folder of the backup. */
  readonly media?: BackupMedia | undefined;
}

/** What a restore has done. */
export interface Restored extends Settled {
  readonly manifest: Manifest;
  /** The migrations that were applied to the restored rows. */
  readonly migrated: readonly string[];
}

/**
 * Restores a backup into the empty place that the settings name. Throws BackupError, before it
 * changes anything, if the backup is altered or made by a newer Hlust, or if the place is not
 * empty. The rows appear in one commit, after the media. A restore that is interrupted, before or
 * after that commit, is continued by the next one of the same backup.
 */
export async function restoreBackup(
  folder: string,
  settings: ArchiveSettings,
  options: RestoreOptions,
): Promise<Restored> {
  const { asCopy } = options;
  const manifest = await readManifest(folder);
  const known = knownMigrations(folder, manifest);
  await requireWhole(folder, options);
  const log = createLog("silent");
  await using store = await openMediaStore(settings, { log, sweeps: false });
  const ids = new Set<string>();
  for await (const { id } of readMedia(folder, manifest.tables)) ids.add(id);
  const place = { manifest, ids, asCopy };
  const isNew = await lacksDatabase(settings);
  // If the store is refused, no database is created.
  if (isNew) await requireEmptyStore(store, settings, { ...place, note: undefined });
  await using database = await openRestoredDatabase(settings);
  const { connection, pool } = database;
  const first = await newNote(folder, manifest, archiveIdOf(manifest, asCopy));
  const unfinished = await unfinishedIn(database, settings, { manifest, backup: first.backup });
  if (!isNew) await requireEmptyStore(store, settings, { ...place, note: unfinished });
  await checkDatabase(pool, { durable: true, makesExtension: true });
  if (!unfinished) await migrate(connection, log, { list: known });
  if (manifest.media) await restoreAllMedia(store, folder, manifest, options);
  if (!unfinished) await loadAll(database, folder, manifest, { ...options, note: first });
  const migrated = await migrate(connection, log);
  const { note, archiveId } = unfinished
    ? await continued(pool, unfinished, { manifest, asCopy })
    : { note: first, archiveId: first.ids[0] };
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const settled = await db
    .transaction()
    .execute(
      async (trx) => await settleRestored(trx, { store, settings, note, archiveId, asCopy }),
    );
  return { ...settled, manifest, migrated };
}

/**
 * A backup that was made before a service named its archive is restored without a name, unless it
 * is a copy: only an archive with a name is in quarantine.
 */
function archiveIdOf({ archive }: Manifest, asCopy: boolean): string | undefined {
  return asCopy ? newId() : archive?.id;
}

/**
 * Decides the id of the archive whose restore was interrupted, perhaps one with or without
 * `--as-copy`. The id is noted before the store is marked with it.
 */
async function continued(
  pool: pg.Pool,
  note: RestoreNote,
  { manifest: { archive }, asCopy }: Pick<RestoreOptions, "asCopy"> & { manifest: Manifest },
): Promise<{ readonly note: RestoreNote; readonly archiveId: string | undefined }> {
  const copyId = () => note.ids.find((id) => id !== archive?.id) ?? newId();
  // The store may have been marked with the id of a copy.
  const archiveId = asCopy ? copyId() : (archive?.id ?? note.ids[0]);
  if (archiveId === undefined || note.ids.includes(archiveId)) return { note, archiveId };
  const changed = { ...note, ids: [...note.ids, archiveId] };
  await pool.query(noteStatement(changed));
  return { note: changed, archiveId };
}

/** Returns the migrations of the backup. Throws BackupError if this version does not know one. */
function knownMigrations(folder: string, manifest: Manifest): typeof migrations {
  const unknown = manifest.migrations.filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new BackupError(
      `${folder} was made by a newer Hlust, ${manifest.hlust}: it has the migration ${unknown.join(", ")}, which this version does not ` +
        `know. Restore it with that version or a later one`,
    );
  }
  const names = new Set(manifest.migrations);
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => names.has(name)));
}

const namedMax = 20;

async function requireWhole(folder: string, { onProgress, media }: RestoreOptions): Promise<void> {
  const found: string[] = [];
  for await (const { path, what } of problemsOf(folder, { readsMedia: true, onProgress, media })) {
    if (found.push(`${path} ${what}`) === namedMax) break;
  }
  if (found.length === 0) return;
  throw new BackupError(`${folder} cannot be restored. Nothing was changed.\n${found.join("\n")}`);
}

async function restoreAllMedia(
  store: Parameters<typeof restoreMedia>[0],
  folder: string,
  manifest: Manifest,
  { onProgress, media: from }: RestoreOptions,
): Promise<void> {
  const total = manifest.media?.bytes ?? 0;
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onProgress({ phase: "media", done, total, unit: "bytes" });
  };
  await restoreMedia(store, folder, manifest, { onBytes, from });
}

async function loadAll(
  { connection }: RestoredDatabase,
  folder: string,
  manifest: Manifest,
  { note, onProgress }: Pick<RestoreOptions, "onProgress"> & { readonly note: RestoreNote },
): Promise<void> {
  const client: pg.Client = await connect({ ...connection, applicationName: "hlust restore" });
  try {
    const total = manifest.tables.length;
    const onTable = (done: number): void => {
      onProgress({ phase: "tables", done, total, unit: "tables" });
    };
    await loadTables(client, folder, manifest, { note, onTable });
  } finally {
    await client.end();
  }
}
