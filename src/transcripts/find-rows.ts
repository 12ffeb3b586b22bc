import { sql, type Kysely, type RawBuilder } from "kysely";
import { readPage, type PageRow, type RowPage } from "../database/page-rows.ts";
import type { Tables } from "../database/tables.ts";
import { foldText } from "../std/fold-text.ts";
import type { ListPosition, PageRequest } from "../std/page-request.ts";
import type { Clause, Filter } from "./filter.ts";
import { isBehind, orderedBy, positionOf, withKey, type RowOrder } from "./row-order.ts";
import type { SearchLimits } from "./search-limits.ts";

/** A search of one account's transcripts or jobs. */
export interface RowSearch {
  /** A table with the columns `id`, `subject` (folded) and `keywords`. */
  readonly table: "transcript" | "transcript_job";
  readonly accountId: string;
  readonly order: RowOrder;
  readonly filter: Filter;
}

/** A row that matches, with its position in the order. */
export interface Found {
  readonly id: string;
  readonly position: string;
}

/**
 * The number of rows to scan per wanted row before an index is used. If one row in forty matches, a
 * page of 50 is found among 2,040 rows in 2 ms. By default, the planner scans all rows of an
 * account for a text that is frequent only in other accounts. An index returns all rows that
 * contain the text, however many there are (10,000 in 40 ms), before the first ones are known.
 */
const scannedPerWanted = 40;
const scannedMax = 10_000;
/**
 * The number of rows that one statement of a wide search reads. This takes 11 ms, and then other
 * searches have their turn. With more rows, the planner sorts all of them.
 */
const wideRows = 5_000;

/** Finds the rows of one page that match, in order, and one more if there is one. */
export async function findRows(
  db: Kysely<Tables>,
  search: RowSearch,
  page: PageRequest,
  limits: SearchLimits,
): Promise<Found[]> {
  const wanted = page.size + 1;
  const rowsMax = Math.min(scannedPerWanted * wanted, scannedMax);
  const { found, end: nearEnd } = await scanNext(db, search, page.after, { wanted, rowsMax });
  let end = nearEnd;
  if (end && found.length >= wanted / 4) {
    // The rest is probably close: an index would read all rows with a frequent text.
    const next = { wanted: wanted - found.length, rowsMax: scannedMax };
    const more = await scanNext(db, search, end, next);
    found.push(...more.found);
    end = more.end;
  }
  if (!end) return found;
  const [from, rest] = [end, wanted - found.length];
  const behind = search.filter.some(hasIndex)
    ? await limits.indexed(async (trx) => await searchIndex(trx, search, from, rest))
    : await limits.wide(async (checkTime) => await scanOn(db, search, from, rest, checkTime));
  return [...found, ...behind];
}

/**
 * Reads a page of rows that were found. Its positions are those at which the rows were found, even
 * if rows have changed since. `read` returns the rows with these ids that still exist, in this
 * order.
 */
export async function readFound<Row extends PageRow>(
  page: PageRequest,
  found: readonly Found[],
  read: (part: {
    readonly ids: readonly string[];
    readonly bytesMax: number;
  }) => Promise<readonly Row[]>,
): Promise<RowPage<Row>> {
  const positions = new Map(found.map(({ id, position }) => [id, position]));
  return await readPage(page, async ({ after, limit, bytesMax }) => {
    const rows: Row[] = [];
    // The last row of the page before may have moved into this one.
    let at = after === page.after ? 0 : found.findIndex(({ id }) => id === after?.[1]) + 1;
    while (rows.length < limit && at < found.length) {
      const ids = found.slice(at, at + limit - rows.length).map(({ id }) => id);
      at += ids.length;
      for (const row of await read({ ids, bytesMax })) {
        rows.push({ ...row, position: positions.get(row.id) ?? row.position });
      }
    }
    return rows;
  });
}

/** Returns the order of rows with these ids as the ids are given. */
export function orderOfIds(ids: readonly string[]): RowOrder {
  const key = (alias: string) =>
    sql`array_position(${[...ids]}::uuid[], ${sql.ref(`${alias}.id`)})`;
  return { key, type: "int", isDescending: false };
}

interface Scan {
  readonly found: Found[];
  /**
   * The position of the last scanned row, if too few matches were found and there are more rows.
   */
  readonly end: ListPosition | undefined;
}

/** Whether an index can be used: a text without three letters in a row has no trigram. */
function hasIndex(clause: Clause): boolean {
  if (clause.by === "subject") return /[\p{L}\p{N}]{3}/u.test(foldText(clause.text));
  return clause.by !== "state";
}

/** Scans the next rows for matches, in order. */
async function scanNext(
  db: Kysely<Tables>,
  search: RowSearch,
  after: ListPosition | undefined,
  { wanted, rowsMax }: { readonly wanted: number; readonly rowsMax: number },
): Promise<Scan> {
  const { table, order } = search;
  const conditions = [owned(search), ...(after ? [isBehind(order, "t", after)] : [])];
  const { rows } = await sql<Found & { readonly number: number; readonly passes: boolean }>`
    select t.id, ${positionOf(order, "t")} as position, t.number, ${passes(search)} as passes
    from (
      select next.*, (row_number() over (order by ${orderedBy(order, "next")}))::int as number
      from (
        select t.* from ${sql.table(table)} as t where ${sql.join(conditions, sql` and `)}
        order by ${orderedBy(order, "t")} limit ${rowsMax}) as next) as t
    where ${passes(search)} or t.number = ${rowsMax}
    order by ${orderedBy(order, "t")} limit ${wanted}
  `.execute(db);
  const found = rows.filter((row) => row.passes);
  const last = rows.at(-1);
  const isMore = last?.number === rowsMax && found.length < wanted;
  return { found, end: isMore ? [last.position, last.id] : undefined };
}

/**
 * Finds all rows after a position that match, using an index, and then selects the first of them.
 * The statement is materialized in this order, whatever the planner expects.
 */
async function searchIndex(
  db: Kysely<Tables>,
  search: RowSearch,
  after: ListPosition,
  wanted: number,
): Promise<Found[]> {
  const { table, order } = search;
  const byKey = withKey(order);
  const { rows } = await sql<Found>`
    with found as materialized (
      select t.id, ${order.key("t")} as key from ${sql.table(table)} as t
      where ${owned(search)} and ${passes(search)} and ${isBehind(order, "t", after)}),
    first as materialized (
      select * from found order by ${orderedBy(byKey, "found")} limit ${wanted})
    select first.id, ${positionOf(byKey, "first")} as position
    from first order by ${orderedBy(byKey, "first")}
  `.execute(db);
  return rows;
}

/** Scans rows until enough of them match or the end is reached. */
async function scanOn(
  db: Kysely<Tables>,
  search: RowSearch,
  after: ListPosition,
  wanted: number,
  checkTime: () => void,
): Promise<Found[]> {
  const found: Found[] = [];
  let from: ListPosition | undefined = after;
  while (from) {
    checkTime();
    const next = await scanNext(db, search, from, {
      wanted: wanted - found.length,
      rowsMax: wideRows,
    });
    found.push(...next.found);
    from = next.end;
  }
  return found;
}

/**
 * Returns the condition of the rows that are scanned: an index has these columns first, and the key
 * of the order next.
 */
function owned({ accountId, filter, order }: RowSearch): RawBuilder<boolean> {
  const conditions = filter.flatMap((clause) => {
    if (clause.by === "state") return [sql`t.state = ${clause.state}`];
    if (clause.by !== order.field) return [];
    if (clause.by !== "duration") return [conditionOf(clause)];
    const is = sql.raw(clause.is);
    return [sql`${order.key("t")} ${is} ${clause.ms} and t.listed_ms is not null`];
  });
  return sql.join([sql`t.account_id = ${accountId}::uuid`, ...conditions], sql` and `);
}

/** Returns the condition of the other clauses in SQL. */
function passes({ filter, order }: RowSearch): RawBuilder<boolean> {
  return conditionsOf(filter.filter(({ by }) => by !== order.field));
}

/** Returns the conditions of clauses for a row t in SQL, without those of states. */
export function conditionsOf(filter: Filter): RawBuilder<boolean> {
  const conditions = filter.flatMap((clause) =>
    clause.by === "state" ? [] : [conditionOf(clause)],
  );
  if (conditions.length === 0) return sql<boolean>`true`;
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`;
}

/**
 * Returns a clause in SQL, with the expression that its index has (migrations 0001, 0015 and 0038).
 * Texts are folded like the column, and the special characters of LIKE are escaped.
 */
function conditionOf(clause: Exclude<Clause, { by: "state" }>): RawBuilder<boolean> {
  switch (clause.by) {
    case "keywords":
      return sql`t.keywords && ${[...clause.keywords]}::text[]`;
    case "subject": {
      const text = foldText(clause.text).replaceAll(/[\\%_]/g, String.raw`\$&`);
      return sql`t.subject like ${`%${text}%`}`;
    }
    case "language":
      return sql`lower(t.metadata ->> 'languageCode') = ${clause.language.toLowerCase()}`;
    case "speakers":
      return sql`jsonb_path_query_array(t.metadata, '$.speakers.*.fullName')
        ?| ${[...clause.names]}::text[]`;
    case "duration":
      // Unknown durations are outside of both ranges.
      return clause.is === "<"
        ? sql`coalesce(t.listed_ms, 2147483647) < ${clause.ms}`
        : sql`coalesce(t.listed_ms, -1) >= ${clause.ms}`;
    case "time":
      return clause.is === "<"
        ? sql`t.updated_at < ${clause.time}`
        : sql`t.updated_at >= ${clause.time}`;
    default:
      return clause satisfies never;
  }
}
