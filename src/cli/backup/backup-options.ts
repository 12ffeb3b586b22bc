import { jsonOption } from "../operator/json-option.ts";
import type { Arguments } from "../options.ts";

/** The options of `hlust backup`. */
export const backupOptions = {
  keep: { hint: "N", meaning: "delete older whole backups in TARGET, but the newest N" },
  since: {
    hint: "BACKUP",
    meaning: "the backup whose media is linked, not copied (the newest in TARGET)",
  },
  "no-media": { meaning: "copy the database only, for media that is kept otherwise" },
  "allow-damage": { meaning: "succeed although media of the archive is missing or altered" },
  ...jsonOption,
} as const;

/** The arguments of `hlust backup`, parsed. */
export type BackupArguments = Arguments<typeof backupOptions>;
