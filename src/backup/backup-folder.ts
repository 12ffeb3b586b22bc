import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { tryLock } from "../models/file-lock.ts";
import { codeOf, syncFolder } from "../media/synced-files.ts";
import { BackupError, partialSuffix } from "./backup-format.ts";
import { isBackupName } from "./backup-names.ts";
import { hasChecksums } from "./checksums.ts";

/** A folder of backups, which only one process writes to. */
export interface BackupFolder extends AsyncDisposable {
  readonly folder: string;
}

/**
 * Opens a folder for backups, and creates it if necessary. Throws BackupError if it cannot be
 * written, or if another process makes a backup there.
 */
export async function openBackupFolder(folder: string): Promise<BackupFolder> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lock = await tryLock(join(folder, ".lock"));
    if (!lock) throw new BackupError(`another backup is being made in ${folder}`);
    return { folder, [Symbol.asyncDispose]: async () => await lock[Symbol.asyncDispose]() };
  } catch (error) {
    throw explainTarget(error, folder);
  }
}

/** Returns the error for the operator if a folder cannot be written, and other errors unchanged. */
export function explainTarget(error: unknown, folder: string): unknown {
  const code = codeOf(error);
  const path = error instanceof Error && "path" in error ? String(error.path) : undefined;
  // A file of the media store may be what this user may not read.
  const isElsewhere = path !== undefined && !path.startsWith(folder);
  const why = isElsewhere ? undefined : reasons.get(code);
  if (why === undefined) return error;
  return new BackupError(`the backup cannot be written to ${folder}: ${why} (${String(code)})`);
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "the disk is full"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "it is read-only"],
  ["EACCES", "this user may not write there"],
  ["EPERM", "this user may not write there"],
  ["ENOTDIR", "it is not a folder"],
  ["EEXIST", "it is not a folder"],
]);

/** What a folder of backups contains, oldest first. */
export interface FoundBackup {
  readonly name: string;
  readonly folder: string;
  /** false: it was interrupted, or its copy was cut. */
  readonly isWhole: boolean;
}

/** Lists the backups in a folder. Rejects if there is no such folder. */
export async function findBackups(folder: string): Promise<readonly FoundBackup[]> {
  const found: FoundBackup[] = [];
  for (const name of (await readdir(folder)).toSorted()) {
    const isPartial = name.endsWith(partialSuffix);
    if (!isBackupName(isPartial ? name.slice(0, -partialSuffix.length) : name)) continue;
    const path = join(folder, name);
    if (!(await stat(path)).isDirectory()) continue;
    found.push({ name, folder: path, isWhole: !isPartial && (await hasChecksums(path)) });
  }
  return found;
}

/** Deletes all whole backups but the newest `keep`. Returns the names of the deleted ones. */
export async function deleteOldBackups(folder: string, keep: number): Promise<readonly string[]> {
  const whole = (await findBackups(folder)).filter(({ isWhole }) => isWhole);
  const old = whole.slice(0, Math.max(0, whole.length - keep));
  for (const { folder: path } of old) {
    // The name no longer claims that the backup is whole, even if the deletion is interrupted.
    await rename(path, path + partialSuffix);
    await syncFolder(folder);
    await rm(path + partialSuffix, { recursive: true });
  }
  return old.map(({ name }) => name);
}
