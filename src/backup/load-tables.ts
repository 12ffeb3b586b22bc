import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createZstdDecompress } from "node:zlib";
import type pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { BackupError, tablePath, type Manifest } from "./backup-format.ts";
import { quoted, tableWith, textSettings } from "./copy-tables.ts";
import { noteStatement, type RestoreNote } from "./restore-note.ts";

/**
 * Loads the tables of a backup in one transaction, into a schema with the same migrations, with the
 * note of the restore. Until settleRestored() has run, the archive is in quarantine.
 */
export async function loadTables(
  client: pg.Client,
  folder: string,
  { tables, archive }: Manifest,
  options: { readonly note: RestoreNote; readonly onTable: (done: number) => void },
): Promise<void> {
  const { note, onTable } = options;
  await client.query("begin");
  await client.query(textSettings);
  const names = tables.map(({ name }) => name);
  // Triggers record changes for streams that are open, and there are none. Constraints are checked.
  for (const name of names) await client.query(`alter table ${quoted(name)} disable trigger user`);
  let done = 0;
  for (const name of await inOrder(client, names)) {
    const { columns = [], rows = 0 } = tables.find((table) => table.name === name) ?? {};
    const loading = client.query(copyFrom(`copy ${tableWith(name, columns)} from stdin`));
    await pipeline(
      createReadStream(join(folder, tablePath(name))),
      createZstdDecompress(),
      loading,
    );
    if (loading.rowCount !== rows) {
      throw new BackupError(`${tablePath(name)} has ${loading.rowCount} rows, not ${rows}`);
    }
    onTable((done += 1));
  }
  for (const name of names) await client.query(`alter table ${quoted(name)} enable trigger user`);
  if (archive) {
    await client.query(
      `insert into archive_identity (id, created_at, quarantined_at, written_by, written_in)
       values ($1, $2, now(), '', '')`,
      [note.ids[0], archive.createdAt],
    );
  }
  await client.query(noteStatement(note));
  await client.query("commit");
  await client.query("analyze");
}

/** Returns the tables in an order in which each comes after those that it refers to. */
async function inOrder(client: pg.Client, names: readonly string[]): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string; target: string }>(
    `select conrelid::regclass::text as name, confrelid::regclass::text as target
     from pg_constraint
     where contype = 'f' and conrelid <> confrelid
       and conrelid in (select quote_ident(name)::regclass from unnest($1::text[]) as name)`,
    [names],
  );
  const ordered = new Set<string>();
  const add = (name: string): void => {
    if (ordered.has(name)) return;
    for (const { target } of rows.filter((row) => row.name === name)) {
      if (names.includes(target)) add(target);
    }
    ordered.add(name);
  };
  for (const name of names) add(name);
  return [...ordered];
}
