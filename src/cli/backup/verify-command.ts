import { resolve } from "node:path";
import { BackupError } from "../../backup/backup-format.ts";
import type { BackupMedia } from "../../backup/backup-media.ts";
import { isBucketUrl } from "../../backup/backup-names.ts";
import { problemsOf, type Problem } from "../../backup/verify-backup.ts";
import { readConfig } from "../../config.ts";
import type { BackupArguments } from "./backup-options.ts";
import { writeJson } from "../operator/json-option.ts";
import { BackupDisplay } from "./backup-display.ts";

/** Runs `hlust backup verify BACKUP`. Resolves to 1 if a file is missing, cut or altered. */
export async function verifyBackup(
  folder: string,
  read: BackupArguments,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const display = new BackupDisplay(process.stderr);
  const problems: Problem[] = [];
  const onProgress = display.show.bind(display);
  const verify = async (from: string, media?: BackupMedia): Promise<void> => {
    for await (const problem of problemsOf(from, { readsMedia: true, onProgress, media })) {
      problems.push(problem);
      display.end();
      if (!read.has("json")) process.stdout.write(`${problem.path} ${problem.what}\n`);
    }
  };
  const isBucket = isBucketUrl(folder);
  try {
    if (isBucket) {
      const { withFetched } = await import("../../backup/bucket/fetched-backup.ts");
      const { backupS3: access, s3: own } = readConfig(environment);
      await withFetched(folder, { access, own }, (fetched) =>
        verify(fetched.folder, fetched.media),
      );
    } else await verify(resolve(folder));
  } catch (error) {
    display.end();
    if (!(error instanceof BackupError)) throw error;
    process.stderr.write(`hlust: ${error.message}\n`);
    return 1;
  }
  display.end();
  if (read.has("json")) writeJson({ folder: isBucket ? folder : resolve(folder), problems });
  else if (problems.length === 0) process.stdout.write(`${folder} is whole and unaltered.\n`);
  return problems.length === 0 ? 0 : 1;
}
