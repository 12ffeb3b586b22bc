import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { tablePath, type Manifest, type TableFacts } from "./backup-format.ts";
import type { Checksum } from "./checksums.ts";
import { keptTables } from "./kept-tables.ts";

/** What a backup has of the database, all of it as of one moment. */
export interface CopiedTables extends Pick<
  Manifest,
  "server" | "snapshotAt" | "migrations" | "archive" | "tables"
> {
  readonly checksums: readonly Checksum[];
  /** The media that the database names. */
  readonly media: { readonly count: number; readonly bytes: number };
}

/**
 * The settings of a session in which COPY writes the same text on every server, and reads it.
 */
export const textSettings = `set local client_encoding = 'UTF8'; set local datestyle = 'ISO, YMD';
  set local timezone = 'UTC'; set local intervalstyle = 'iso_8601'; set local bytea_output = 'hex';
  set local extra_float_digits = 1; set local statement_timeout = 0; set local lock_timeout = 0;
  set local idle_in_transaction_session_timeout = 0`;

/**
 * Writes the tables of one snapshot to the folder `tables` of a backup. The client must be in no
 * transaction. Calls of the service are not blocked.
 */
export async function copyTables(
  client: pg.Client,
  folder: string,
  onTable: (done: number, total: number) => void,
): Promise<CopiedTables> {
  await client.query("begin isolation level repeatable read read only");
  await client.query(textSettings);
  const facts = await snapshotFacts(client);
  const columns = await columnsOf(client);
  const tables: TableFacts[] = [];
  const checksums: Checksum[] = [];
  for (const name of keptTables) {
    onTable(tables.length, keptTables.length);
    const { sha256, ...table } = await copyTable(client, folder, name, columns.get(name) ?? []);
    tables.push(table);
    checksums.push({ path: tablePath(name), sha256 });
  }
  await client.query("commit");
  return { ...facts, tables, checksums };
}

async function snapshotFacts(client: pg.Client) {
  const { rows } = await client.query<{
    server: string;
    at: Date;
    migrations: string[];
    id: string | null;
    created_at: Date | null;
    count: string;
    bytes: string;
  }>(`
    select current_setting('server_version') as server, clock_timestamp() as at,
      (select array_agg(name order by name) from kysely_migration) as migrations,
      i.id, i.created_at, m.count, m.bytes
    from (select count(*), coalesce(sum(size_bytes), 0) as bytes from media) m
    left join archive_identity i on true`);
  const [row] = rows;
  if (!row) throw new Error("the database returned no facts");
  const { id, created_at: createdAt } = row;
  return {
    server: row.server,
    snapshotAt: row.at.toISOString(),
    migrations: row.migrations,
    archive: id !== null && createdAt ? { id, createdAt: createdAt.toISOString() } : null,
    media: { count: Number(row.count), bytes: Number(row.bytes) },
  };
}

/** Returns the columns of each table, without those that the database generates. */
async function columnsOf(client: pg.Client): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.oid in (select name::regclass from unnest($1::text[]) as name)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.relname`,
    [keptTables],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

async function copyTable(
  client: pg.Client,
  folder: string,
  name: string,
  columns: readonly string[],
): Promise<TableFacts & { readonly sha256: string }> {
  if (columns.length === 0) throw new Error(`the database has no table ${name}`);
  await using handle = await open(join(folder, tablePath(name)), "wx", 0o600);
  const rows = client.query(copyTo(`copy ${tableWith(name, columns)} to stdout`));
  const hash = createHash("sha256");
  let bytes = 0;
  await pipeline(rows, createZstdCompress(), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      await handle.writeFile(chunk);
    }
  });
  await handle.sync();
  return { name, columns, rows: rows.rowCount, bytes, sha256: hash.digest("hex") };
}

/** Returns a table with its columns, as COPY names them. */
export function tableWith(name: string, columns: readonly string[]): string {
  return `${quoted(name)} (${columns.map(quoted).join(", ")})`;
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
