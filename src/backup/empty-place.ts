import { stat } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { openOwnPostgres } from "../database/own-postgres.ts";
import { readMark } from "../media/archive-identity.ts";
import { databaseName, storeName, type ArchiveSettings } from "../media/archive-place.ts";
import type { MediaStore } from "../media/media-store.ts";
import { codeOf } from "../media/synced-files.ts";
import { createLog } from "../std/log.ts";
import { BackupError, type Manifest } from "./backup-format.ts";
import { keptTables } from "./kept-tables.ts";
import { quoted } from "./copy-tables.ts";
import { isInUse, readNote, type RestoreNote } from "./restore-note.ts";

/** The database that a backup is restored into. */
export interface RestoredDatabase extends AsyncDisposable {
  readonly connection: pg.PoolConfig;
  readonly pool: pg.Pool;
}

const namedMax = 5;

/** Returns whether the service's own PostgreSQL, if the settings name it, has yet to be created. */
export async function lacksDatabase(settings: ArchiveSettings): Promise<boolean> {
  if (settings.database.url !== undefined) return false;
  return !(await exists(join(settings.dataFolder, "postgres")));
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Opens the database that the settings name; creates that of the service's own PostgreSQL. */
export async function openRestoredDatabase(settings: ArchiveSettings): Promise<RestoredDatabase> {
  const { url } = settings.database;
  await using opened = new AsyncDisposableStack();
  const folder = join(settings.dataFolder, "postgres");
  const connection =
    url === undefined
      ? opened.use(await openOwnPostgres({ folder, log: createLog("silent") })).connection
      : { connectionString: url };
  const pool = new pg.Pool({ ...connection, application_name: "hlust restore", max: 2 });
  pool.on("error", () => {}); // the query in progress fails with it
  opened.defer(async () => await pool.end());
  const parts = opened.move();
  return { connection, pool, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

/**
 * Returns the note of an interrupted restore of the same backup, whose rows are in the database:
 * only what follows the rows is left to do. Returns undefined if the database has no rows. Throws
 * BackupError, which names what is there, if it has other rows, or a schema that the backup does
 * not have.
 */
export async function unfinishedIn(
  { pool }: RestoredDatabase,
  settings: ArchiveSettings,
  { manifest, backup }: { readonly manifest: Manifest; readonly backup: string },
): Promise<RestoreNote | undefined> {
  const rows = await rowsIn(pool);
  if (rows.length === 0) {
    await requireNoLaterSchema(pool, settings, manifest);
    return undefined;
  }
  const note = await readNote(pool);
  if (note?.backup === backup && note.endedAt === null && !(await isInUse(pool))) return note;
  const named = rows.slice(0, namedMax).join(", ") + (rows.length > namedMax ? ", ..." : "");
  throw new BackupError(
    `${databaseName(settings)} is not empty: it has rows (${named}). Nothing was changed. ${adviceOn(note, backup)}`,
  );
}

/** Returns what to do about rows that cannot be overwritten. */
function adviceOn(note: RestoreNote | undefined, backup: string): string {
  if (note?.backup === backup) {
    return note.endedAt === null
      ? "A restore of this backup was interrupted, and the archive has been used since: restore into another place"
      : `A restore of this backup ended here at ${note.endedAt}: check it with \`hlust fsck\` and start the service, or restore into another place`;
  }
  if (note?.endedAt === null) {
    return `They are of an interrupted restore of the backup as of ${note.snapshotAt}: continue that one with the same command, or restore into another place`;
  }
  return "Restore into an empty database: another HLUST_DATA or DATABASE_URL, or move the old one away";
}

/** Returns the number of rows of each table that has some, as words. */
async function rowsIn(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select tablename as name from pg_tables
     where schemaname = any (current_schemas(false)) and tablename = any ($1::text[])
     order by 1`,
    [keptTables],
  );
  const full: string[] = [];
  for (const { name } of rows) {
    const counted = await pool.query<{ count: string }>(`select count(*) from ${quoted(name)}`);
    const count = Number(counted.rows[0]?.count ?? 0);
    if (count > 0) full.push(`${count} in ${name}`);
  }
  return full;
}

async function requireNoLaterSchema(
  pool: pg.Pool,
  settings: ArchiveSettings,
  { migrations }: Manifest,
): Promise<void> {
  const { rows: tables } = await pool.query(
    `select from pg_tables where tablename = 'kysely_migration' and schemaname = any (current_schemas(false))`,
  );
  if (tables.length === 0) return;
  const { rows } = await pool.query<{ name: string }>(
    "select name from kysely_migration where name <> all ($1::text[]) order by name",
    [migrations],
  );
  if (rows.length === 0) return;
  throw new BackupError(
    `${databaseName(settings)} has a later schema than the backup (${rows.map(({ name }) => name).join(", ")}). Nothing was ` +
      `changed. Restore into a database without tables`,
  );
}

/**
 * Throws BackupError, which names what is there, if the media store belongs to an archive or has
 * media that is not in the backup. Media of an interrupted restore of the same backup may be there.
 */
export async function requireEmptyStore(
  store: MediaStore,
  settings: ArchiveSettings,
  backup: {
    readonly manifest: Manifest;
    readonly ids: ReadonlySet<string>;
    readonly asCopy: boolean;
    /** The note of an interrupted restore of the backup, which may have marked the store. */
    readonly note: RestoreNote | undefined;
  },
): Promise<void> {
  const { manifest, ids, asCopy, note } = backup;
  const markId = await readMark(store);
  const isOwn = manifest.media === null && markId === manifest.archive?.id && !asCopy;
  if (markId !== undefined && !isOwn && note?.ids.includes(markId) !== true) {
    refuse(settings, `it belongs to the archive ${markId}`);
  }
  // Without its media, a backup is restored next to the media that is kept otherwise.
  if (manifest.media === null) return;
  let others = 0;
  for await (const { id } of store.list()) if (!ids.has(id)) others += 1;
  if (others > 0) refuse(settings, `it has ${others} media that the backup does not have`);
}

function refuse(settings: ArchiveSettings, why: string): never {
  throw new BackupError(
    `${storeName(settings)} is not empty: ${why}. Nothing was changed. Restore into an empty place: another HLUST_DATA, ` +
      `S3_BUCKET or S3_PREFIX, or move the old media away`,
  );
}
