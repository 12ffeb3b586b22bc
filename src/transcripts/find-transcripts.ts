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

/** Runs the slow part of a search in its turn, within a time limit. */
export interface SearchLimits {
  /** Runs one statement that uses an index, in a transaction with a time limit. */
  indexed<T>(search: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Runs many short statements; `checkTime` throws once the time is used up. */
  wide<T>(search: (checkTime: () => void) => Promise<T>): Promise<T>;
}

/**
 * The number of rows to scan per wanted row before an index is used. If one row in forty matches, a
 * page of 50 is found among 2,040 rows in 2 ms. By default, the planner scans all rows of an
 * account for a text that is frequent only in other accounts. An index returns all rows that
 * contain the text, however many there are (10,000 in 40 ms), before the newest ones are known.
 */
const scannedPerWanted = 40;
const scannedMax = 10_000;
/**
 * The number of rows that one statement of a wide search reads. This takes 11 ms, and then other
 * searches have their turn. With more rows, the planner sorts all of them.
 */
const wideRows = 5_000;

/**
 * Finds one page of an account's transcripts that match the filter, ordered by creation time, then
 * id, newest first.
 */
export async function findTranscripts(
  db: Kysely<Tables>,
  search: { readonly accountId: string; readonly filter: TranscriptFilter },
  page: PageRequest,
  limits: SearchLimits,
): Promise<ListPage<ListedTranscript>> {
  const wanted = page.size + 1;
  const { found, end } = await scanNext(
    db,
    search,
    page.after,
    wanted,
    Math.min(scannedPerWanted * wanted, scannedMax),
  );
  if (end) {
    const rest = wanted - found.length;
    const behind = hasIndex(search.filter)
      ? await limits.indexed(async (trx) => await searchIndex(trx, search, end, rest))
      : await limits.wide(async (checkTime) => await scanOn(db, search, end, rest, checkTime));
    found.push(...behind);
  }
  // Metadata is read separately: a search scans many rows before the page is full, and metadata may
  // be long.
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

/** A transcript that matches. */
interface Found {
  readonly id: string;
  readonly position: string;
}

interface Scan {
  readonly found: Found[];
  /**
   * The position of the last scanned row, if too few matches were found and there are more rows.
   */
  readonly end: ListPosition | undefined;
}

type Search = Parameters<typeof findTranscripts>[1];

/** Whether an index can be used: a text without three letters in a row has no trigram. */
function hasIndex(filter: TranscriptFilter): boolean {
  return filter.by === "keywords" || /[\p{L}\p{N}]{3}/u.test(foldText(filter.text));
}

/** Scans the next rows for matches, in order. */
async function scanNext(
  db: Kysely<Tables>,
  { accountId, filter }: Search,
  after: ListPosition | undefined,
  wanted: number,
  rowsMax: number,
): Promise<Scan> {
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
 * Finds all rows after a position that match, using an index, and then selects the newest of them.
 * The statement is materialized in this order, whatever the planner expects.
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

/** Scans rows until enough of them match or the end is reached. */
async function scanOn(
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
    const next = await scanNext(db, search, from, wanted - found.length, wideRows);
    found.push(...next.found);
    from = next.end;
  }
  return found;
}

/**
 * Returns the condition of the filter in SQL. The text is folded like the column, and the special
 * characters of LIKE are escaped.
 */
function passes(filter: TranscriptFilter): RawBuilder<boolean> {
  if (filter.by === "keywords") {
    return sql<boolean>`${sql.ref("t.keywords")} @> ${[...filter.keywords]}::text[]`;
  }
  const pattern = `%${foldText(filter.text).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
  return sql<boolean>`${sql.ref("t.subject")} like ${pattern}`;
}
