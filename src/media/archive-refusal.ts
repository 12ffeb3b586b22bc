import { databaseName, storeName, type ArchiveSettings } from "./archive-place.ts";

/**
 * The reason why the database and the media store do not belong to one archive, with the ids of
 * their archives, if known.
 */
export type Disagreement =
  | { readonly kind: "other_archive"; readonly id: string | undefined; readonly markId: string }
  | { readonly kind: "no_mark"; readonly id: string }
  | { readonly kind: "new_database" | "unknown_media"; readonly stored: number }
  | { readonly kind: "empty_store" };

/**
 * Returns the message for the operator if the database and the media store do not belong to one
 * archive: the disagreement, and the remedy.
 */
export function refusalOf(why: Disagreement, settings: ArchiveSettings): Error {
  const { s3 } = settings;
  const share = s3
    ? " Services that share a bucket need different values of S3_PREFIX."
    : " Nodes of one service need one folder that they share, or S3_BUCKET.";
  const where = s3 ? "DATABASE_URL, S3_BUCKET and S3_PREFIX" : "DATABASE_URL and HLUST_DATA";
  return new Error(
    `${whatDisagrees(why, settings)}. Nothing was changed. Check that ${where} name parts of one archive.${share} ` +
      `Only if they do belong together: \`${adopting(why)}\`.`,
  );
}

/**
 * Returns the message for the operator if the media store is a copy of the one that other nodes
 * currently use.
 */
export function copiedStoreRefusal(settings: ArchiveSettings): Error {
  return new Error(
    `${storeName(settings)} is a copy of the media store that other nodes of ${databaseName(settings)} use: they have written to theirs ` +
      `within the last three minutes. Nothing was changed. Nodes of one service need one folder that they share, or S3_BUCKET. ` +
      `If no other node is running, start again in three minutes.`,
  );
}

function whatDisagrees(why: Disagreement, settings: ArchiveSettings): string {
  const [store, database] = [storeName(settings), databaseName(settings)];
  if (why.kind === "other_archive") {
    const own = why.id === undefined ? "is new" : `belongs to the archive ${why.id}`;
    return `the media in ${store} belongs to another archive, ${why.markId}: ${database} ${own}`;
  }
  if (why.kind === "no_mark") {
    return (
      `${database} belongs to the archive ${why.id}, but ${store} has no file hlust-archive with its id: ` +
      `it is not where the media of this archive was stored before, or where the other nodes store it`
    );
  }
  if (why.kind === "empty_store") return `${database} has media, but ${store} has none`;
  const count = why.stored >= 1_000 ? "1000 or more" : `${why.stored}`;
  return why.kind === "new_database"
    ? `${database} is new, or another one: it has no record of the ${count} recordings in ${store}`
    : `${database} has no record of most of the ${count} recordings in ${store}`;
}

function adopting(why: Disagreement): string {
  return why.kind === "other_archive" && why.id !== undefined
    ? `hlust archive adopt --from ${why.markId}`
    : "hlust archive adopt";
}
