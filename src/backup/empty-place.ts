import { join } from "node:path";
import pg from "pg";
import { checkDatabase } from "../database/check-database.ts";
import { openOwnPostgres } from "../database/own-postgres.ts";
import { readMark } from "../media/archive-identity.ts";
import { databaseName, storeName, type ArchiveSettings } from "../media/archive-place.ts";
import type { MediaStore } from "../media/media-store.ts";
import { createLog } from "../std/log.ts";
import { BackupError, type Manifest } from "./backup-format.ts";
import { keptTables } from "./kept-tables.ts";
import { quoted } from "./copy-tables.ts";

/** The database of a service without data, which is open for a restore. */
export interface EmptyDatabase extends AsyncDisposable {
  readonly connection: pg.PoolConfig;
  readonly pool: pg.Pool;
}

const namedMax = 5;

/**
 * Opens the database that the settings name; creates that of the service's own PostgreSQL. Throws
 * BackupError, which names what is there, if it has data, or a schema that the backup does not
 * have.
 */
export async function openEmptyDatabase(
  settings: ArchiveSettings,
  manifest: Manifest,
): Promise<EmptyDatabase> {
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
  await checkDatabase(pool, { durable: true, makesExtension: true });
  await requireNoRows(pool, settings);
  await requireNoLaterSchema(pool, settings, manifest);
  const parts = opened.move();
  return { connection, pool, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function requireNoRows(pool: pg.Pool, settings: ArchiveSettings): Promise<void> {
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
  if (full.length === 0) return;
  const named = full.slice(0, namedMax).join(", ") + (full.length > namedMax ? ", ..." : "");
  throw new BackupError(
    `${databaseName(settings)} is not empty: it has rows (${named}). Nothing was changed. Restore into an empty database: another ` +
      `HLUST_DATA or DATABASE_URL, or move the old one away`,
  );
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
  },
): Promise<void> {
  const { manifest, ids, asCopy } = backup;
  const markId = await readMark(store);
  const isOwn = manifest.media === null && markId === manifest.archive?.id && !asCopy;
  if (markId !== undefined && !isOwn) {
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
