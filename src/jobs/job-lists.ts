import { sql, type Kysely } from "kysely";
import { metadataWithin, readPage, type RowPage } from "../database/page-rows.ts";
import type { Tables } from "../database/tables.ts";
import type { PageRequest } from "../std/page-request.ts";
import type { Filter } from "../transcripts/filter.ts";
import { findRows, orderOfIds, readFound } from "../transcripts/find-rows.ts";
import {
  isBehind,
  newestBy,
  orderedBy,
  positionOf,
  withKey,
  type RowOrder,
} from "../transcripts/row-order.ts";
import type { SearchLimits } from "../transcripts/search-limits.ts";
import { jobColumns, type JobRow } from "./stored-job.ts";

const newest = newestBy("started_at");

/** Returns one page of an account's jobs, newest first. A page ends early if metadata is long. */
export async function listJobs(
  db: Kysely<Tables>,
  accountId: string,
  page: PageRequest,
): Promise<RowPage<JobRow>> {
  return await readPage(page, async ({ after, limit, bytesMax }) => {
    let next = selectListed(db, accountId, newest).orderBy(orderedBy(newest, "t")).limit(limit);
    if (after) next = next.where(isBehind(newest, "t", after));
    return await selectWithin(db, next, newest, bytesMax).execute();
  });
}

/** Finds one page of an account's jobs that match the filter, newest first. */
export async function findJobsOf(
  db: Kysely<Tables>,
  search: { readonly accountId: string; readonly filter: Filter },
  page: PageRequest,
  limits: SearchLimits,
): Promise<RowPage<JobRow>> {
  const rows = { table: "transcript_job", order: newest, ...search } as const;
  const found = await findRows(db, rows, page, limits);
  return await readFound(page, found, async ({ ids, bytesMax }) => {
    const order = orderOfIds(ids);
    const named = selectListed(db, search.accountId, order)
      .where(sql<boolean>`t.id = any(${[...ids]}::uuid[])`)
      .limit(ids.length);
    return await selectWithin(db, named, order, bytesMax).execute();
  });
}

function selectListed(db: Kysely<Tables>, accountId: string, order: RowOrder) {
  return db
    .selectFrom("transcript_job as t")
    .where("account_id", "=", accountId)
    .select([...jobColumns, positionOf(order, "t").as("position"), order.key("t").as("key")]);
}

function selectWithin(
  db: Kysely<Tables>,
  rows: ReturnType<typeof selectListed>,
  order: RowOrder,
  bytesMax: number,
) {
  const inOrder = orderedBy(withKey(order), "row");
  return db
    .selectFrom(rows.as("row"))
    .select(["id", "account_id", "state", "progress_percent", "duration_ms", "upload_id"])
    .select([
      "transcript_id",
      "content_transcript_id",
      "new_version_of",
      "model",
      "used_model",
      "started_at",
      "updated_at",
      "error",
      "position",
    ])
    .select(metadataWithin("row", bytesMax, inOrder).as("metadata"))
    .orderBy(inOrder);
}
