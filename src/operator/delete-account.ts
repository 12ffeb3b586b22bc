import { type Kysely, sql } from "kysely";
import { deleteAccount } from "../accounts/delete-account.ts";
import type { Tables } from "../database/tables.ts";
import { deleteBytes } from "../media/media-records.ts";
import type { OpenArchive } from "../media/open-archive.ts";
import { createLog } from "../std/log.ts";

/** The number of an account's resources of each kind. */
export interface Holdings {
  readonly transcripts: number;
  readonly jobs: number;
  readonly media: number;
  readonly mediaBytes: number;
  readonly members: number;
  readonly keys: number;
  readonly webhooks: number;
}

/** Counts the resources that would be deleted with an account. */
export async function holdingsOf(db: Kysely<Tables>, accountId: string): Promise<Holdings> {
  const { rows } = await sql<Record<keyof Holdings, string>>`
    select
      (select count(*) from transcript
        where account_id = ${accountId} or bin_account_id = ${accountId}) as transcripts,
      (select count(*) from transcript_job where account_id = ${accountId})
        + (select count(*) from alignment_job where account_id = ${accountId}) as jobs,
      (select count(*) from media where account_id = ${accountId}) as media,
      (select coalesce(sum(size_bytes), 0) from media where account_id = ${accountId}) as "mediaBytes",
      (select count(*) from member where account_id = ${accountId}) as members,
      (select count(*) from api_key where account_id = ${accountId})
        + (select count(*) from client_key where account_id = ${accountId}) as keys,
      (select count(*) from webhook where account_id = ${accountId}) as webhooks
  `.execute(db);
  const [row] = rows;
  return {
    transcripts: Number(row?.transcripts),
    jobs: Number(row?.jobs),
    media: Number(row?.media),
    mediaBytes: Number(row?.mediaBytes),
    members: Number(row?.members),
    keys: Number(row?.keys),
    webhooks: Number(row?.webhooks),
  };
}

/**
 * Deletes an account with all its data, as deleteAccount() of accounts does, and then the bytes of
 * its media. A service may be running. Bytes that remain after a kill are set aside by the next
 * sweep of a service. Only the audit log remains. Returns false if there is no such account.
 */
export async function deleteAccountWithMedia(
  { db, store }: Pick<OpenArchive, "db" | "store">,
  accountId: string,
): Promise<boolean> {
  const log = createLog("info");
  const media = await db
    .selectFrom("media")
    .where("account_id", "=", accountId)
    .select("id")
    .execute();
  if (!(await deleteAccount({ db, log }, accountId))) return false;
  const mediaIds = media.map(({ id }) => id);
  await deleteBytes({ store, log }, mediaIds, "account_deleted");
  return true;
}
