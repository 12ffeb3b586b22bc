import { resolve } from "node:path";
import { BackupError } from "../../backup/backup-format.ts";
import { problemsOf, type Problem } from "../../backup/verify-backup.ts";
import type { BackupArguments } from "./backup-options.ts";
import { writeJson } from "../operator/json-option.ts";
import { BackupDisplay } from "./backup-display.ts";

/** Runs `hlust backup verify BACKUP`. Resolves to 1 if a file is missing, cut or altered. */
export async function verifyBackup(folder: string, read: BackupArguments): Promise<number> {
  const display = new BackupDisplay(process.stderr);
  const problems: Problem[] = [];
  const onProgress = display.show.bind(display);
  try {
    for await (const problem of problemsOf(resolve(folder), { readsMedia: true, onProgress })) {
      problems.push(problem);
      display.end();
      if (!read.has("json")) process.stdout.write(`${problem.path} ${problem.what}\n`);
    }
  } catch (error) {
    display.end();
    if (!(error instanceof BackupError)) throw error;
    process.stderr.write(`hlust: ${error.message}\n`);
    return 1;
  }
  display.end();
  if (read.has("json")) writeJson({ folder: resolve(folder), problems });
  else if (problems.length === 0) process.stdout.write(`${folder} is whole and unaltered.\n`);
  return problems.length === 0 ? 0 : 1;
}
