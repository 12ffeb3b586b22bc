import { readConfig } from "../../config.ts";
import { openArchive } from "../../media/open-archive.ts";
import {
  deleteAccountWithMedia,
  holdingsOf,
  type Holdings,
} from "../../operator/delete-account.ts";
import { jsonOption, writeJson } from "../operator/json-option.ts";
import { oneAccount } from "../operator/one-account.ts";
import { takePositionals } from "../operator/take-positionals.ts";
import { Arguments } from "../options.ts";

const options = {
  ...jsonOption,
  yes: { meaning: "delete; without it, only show what would be deleted" },
};

/**
 * Runs `hlust accounts delete ID --yes`: deletes the account with all its data, except its audit
 * log. Without --yes, the command deletes nothing and exits with 1.
 */
export async function remove(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const read = new Arguments(options, args);
  const [given] = takePositionals(read.positionals, ["ID"]);
  const isWanted = read.has("yes");
  await using archive = await openArchive(readConfig(environment));
  if (isWanted && archive.quarantine.length > 0) {
    const why = archive.quarantine.join("; ");
    throw new Error(
      `the archive is in quarantine: ${why}. \`hlust archive release\` ends the quarantine`,
    );
  }
  const { id, displayName } = await oneAccount(archive.db, given);
  const holdings = await holdingsOf(archive.db, id);
  if (!read.has("json")) {
    process.stdout.write(`accounts/${id} (${displayName}) has ${wordsOf(holdings)}.\n`);
  }
  const isDeleted = isWanted && (await deleteAccountWithMedia(archive, id));
  if (read.has("json")) writeJson({ name: `accounts/${id}`, displayName, holdings, isDeleted });
  else {
    process.stdout.write(
      isDeleted
        ? "All of it is deleted, except the audit log.\n"
        : "Nothing is deleted: --yes deletes all of it permanently, except the audit log.\n",
    );
  }
  return isDeleted ? 0 : 1;
}

function wordsOf({ mediaBytes, media, ...others }: Holdings): string {
  const counts = Object.entries(others).map(([what, count]) => `${count} ${what}`);
  return [...counts, `${media} media of ${mediaBytes} bytes`].join(", ");
}
