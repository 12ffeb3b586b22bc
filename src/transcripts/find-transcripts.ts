import { sql, type Kysely, type RawBuilder } from "kysely";
import type { Tables } from "../database/tables.ts";
import { foldText } from "../std/fold-text.ts";
import type { TranscriptFilter } from "./filter.ts";
import { exactTime } from "../database/exact-time.ts";
import { readPage } from "../database/page-rows.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import {
  findListed,
  isBehind,
  listedPage,
  type ListedRow,
  type ListedTranscript,
  type ListPage,
} from "./transcript-lists.ts";

/** Lets the part of a search that can take long run when it may, for as long as it may. */
export interface SearchLimits {
  /** For one statement on an index, in a transaction with a time limit. */
  indexed<T>(search: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** For many short statements; `checkTime` throws when there have been enough. */
  wide<T>(search: (checkTime: () => void) => Promise<T>): Promise<T>;
}

/**
 * So many rows are looked at for each that is wanted before an index is asked: what one in forty
 * passes is found in 2 ms (a page of 50 among 2,040). Left to itself, the planner takes an account
 * through all its rows for a text that is frequent in other accounts only; and an index gives all
 * that have a text, however frequent (10,000 in 40 ms), before the newest of them are known.
 */
const looksAFind = 40;
const looksMax = 10_000;
/**
 * Rows of one statement of a wide search: 11 ms, after which others have their turn. More, and the
 * planner sorts them all.
 */
const wideRows = 5_000;

/**
 * One page of an account's transcripts that pass the filter, newest first by creation time, then
 * id.
 */
export async function findTranscripts(
  db: Kysely<Tables>,
  search: { readonly accountId: string; readonly filter: TranscriptFilter },
  page: PageRequest,
  limits: SearchLimits,
): Promise<ListPage<ListedTranscript>> {
  const wanted = page.size + 1;
  const { found, end } = await look(
    db,
    search,
    page.after,
    wanted,
    Math.min(looksAFind * wanted, looksMax),
  );
  if (end) {
    const rest = wanted - found.length;
    const behind = hasIndex(search.filter)
      ? await limits.indexed(async (trx) => await searchIndex(trx, search, end, rest))
      : await limits.wide(async (checkTime) => await lookOn(db, search, end, rest, checkTime));
    found.push(...behind);
  }
  // What was found is read apart: a search has passed many rows before the page is full, and
  // metadata may be long.
  return listedPage(
    await readPage(page, async ({ after, limit, bytesMax }) => {
      const rows: ListedRow[] = [];
      let at = found.findIndex(({ id }) => id === after?.[1]) + 1;
      while (rows.length < limit && at < found.length) {
        const ids = found.slice(at, at + limit - rows.length).map(({ id }) => id);
        at += ids.length;
        rows.push(...(await findListed(db, search.accountId, { ids, bytesMax })));
      }
      return rows;
    }),
  );
}

/** A transcript that passes. */
interface Found {
  readonly id: string;
  readonly position: string;
}

interface Look {
  readonly found: Found[];
  /** The last row looked at, when there is more behind it and fewer were found than wanted. */
  readonly end: ListPosition | undefined;
}

type Search = Parameters<typeof findTranscripts>[1];

/** A text without three letters in a row has no trigram. */
function hasIndex(filter: TranscriptFilter): boolean {
  return filter.by === "keywords" || /[\p{L}\p{N}]{3}/u.test(foldText(filter.text));
}

/** Looks at the next rows in order for those that pass. */
async function look(
  db: Kysely<Tables>,
  { accountId, filter }: Search,
  after: ListPosition | undefined,
  wanted: number,
  rowsMax: number,
): Promise<Look> {
  const rows = await db
    .selectFrom((from) => {
      let next = from
        .selectFrom("transcript")
        .selectAll()
        .where("account_id", "=", accountId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(rowsMax);
      if (after) next = next.where(isBehind("transcript", after));
      return from
        .selectFrom(next.as("next"))
        .selectAll()
        .select(
          sql<number>`(row_number() over (order by created_at desc, id desc))::int`.as("number"),
        )
        .as("t");
    })
    .select(["t.id", exactTime("t.created_at").as("position"), "t.number"])
    .select(passes(filter).as("passes"))
    .where((row) => row.or([passes(filter), row("t.number", "=", rowsMax)]))
    .orderBy("t.created_at", "desc")
    .orderBy("t.id", "desc")
    .limit(wanted)
    .execute();
  const found = rows.filter((row) => row.passes);
  const last = rows.at(-1);
  const isMore = last?.number === rowsMax && found.length < wanted;
  return { found, end: isMore ? [last.position, last.id] : undefined };
}

/**
 * All that an index finds behind a position, then the newest of them: in this order, whatever the
 * planner expects.
 */
async function searchIndex(
  db: Kysely<Tables>,
  { accountId, filter }: Search,
  after: ListPosition,
  wanted: number,
): Promise<Found[]> {
  return await db
    .with(
      (name) => name("found").materialized(),
      (from) =>
        from
          .selectFrom("transcript as t")
          .select(["t.id", "t.created_at"])
          .where("t.account_id", "=", accountId)
          .where(passes(filter))
          .where(isBehind("t", after)),
    )
    .with(
      (name) => name("newest").materialized(),
      (from) =>
        from
          .selectFrom("found")
          .selectAll()
          .orderBy("created_at", "desc")
          .orderBy("id", "desc")
          .limit(wanted),
    )
    .selectFrom("newest")
    .select(["newest.id", exactTime("newest.created_at").as("position")])
    .orderBy("newest.created_at", "desc")
    .orderBy("newest.id", "desc")
    .execute();
}

/** Looks on to the end, or until as many are found as are wanted. */
async function lookOn(
  db: Kysely<Tables>,
  search: Search,
  after: ListPosition,
  wanted: number,
  checkTime: () => void,
): Promise<Found[]> {
  const found: Found[] = [];
  let from: ListPosition | undefined = after;
  while (from) {
    checkTime();
    const next = await look(db, search, from, wanted - found.length, wideRows);
    found.push(...next.found);
    from = next.end;
  }
  return found;
}

/** The text is folded as the column was; what LIKE reads as a pattern is escaped. */
function passes(filter: TranscriptFilter): RawBuilder<boolean> {
  if (filter.by === "keywords") {
    return sql<boolean>`${sql.ref("t.keywords")} @> ${[...filter.keywords]}::text[]`;
  }
  const pattern = `%${foldText(filter.text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`${sql.ref("t.subject")} like ${pattern}`;
}
