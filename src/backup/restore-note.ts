import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql, type Transaction } from "kysely";
import pg from "pg";
import type { Tables } from "../database/tables.ts";
import { manifestFile, type Manifest } from "./backup-format.ts";

/**
 * What a restore notes in the database, in the same commit as its rows. With it, the next restore
 * of the same backup knows that the rows are its own.
 */
export interface RestoreNote {
  /** The SHA-256 of the manifest of the backup. */
  readonly backup: string;
  readonly snapshotAt: string;
  /** The ids that the media store may have been marked with. */
  readonly ids: readonly string[];
  /** When the restore ended; null if it was interrupted. */
  readonly endedAt: string | null;
}

/** Returns the note of a restore that begins. */
export async function newNote(
  folder: string,
  { snapshotAt }: Manifest,
  id: string | undefined,
): Promise<RestoreNote> {
  const text = await readFile(join(folder, manifestFile));
  const backup = createHash("sha256").update(text).digest("hex");
  return { backup, snapshotAt, ids: id === undefined ? [] : [id], endedAt: null };
}

// The note is a comment on the table of migrations, since the schema of every backup has it.
const notedOn = "kysely_migration";
const prefix = "hlust restore ";

/** Returns the statement that writes a note. */
export function noteStatement(note: RestoreNote): string {
  return `comment on table ${notedOn} is ${pg.escapeLiteral(prefix + JSON.stringify(note))}`;
}

/** Notes that the restore has ended, in the transaction of its last changes. */
export async function noteEnd(trx: Transaction<Tables>, note: RestoreNote): Promise<void> {
  const endedAt = new Date().toISOString();
  await sql.raw(noteStatement({ ...note, endedAt })).execute(trx);
}

/** Returns the note of the restore that wrote the rows of a database; undefined if none did. */
export async function readNote(pool: pg.Pool): Promise<RestoreNote | undefined> {
  const { rows } = await pool.query<{ text: string | null }>(
    "select obj_description(to_regclass($1), 'pg_class') as text",
    [notedOn],
  );
  const text = rows[0]?.text ?? "";
  if (!text.startsWith(prefix)) return undefined;
  // Only noteStatement() writes such a comment.
  const note: RestoreNote = JSON.parse(text.slice(prefix.length));
  return note;
}

/**
 * Returns whether a service, or `hlust archive`, has used a database since the rows were restored:
 * they write the row of the archive, which is unwritten until a restore ends.
 */
export async function isInUse(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query("select from archive_identity where written_by <> ''");
  return rows.length > 0;
}
