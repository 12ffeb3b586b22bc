import { sql, type RawBuilder } from "kysely";
import type { ListPosition, PageRequest } from "../std/page-request.ts";

/**
 * The number of bytes of metadata, as stored JSON, after which a page of a list ends, with a token
 * for the rest. A page of 1,000 items of ordinary size has half of this.
 */
const pageBytesMax = 512 << 10;

/**
 * The number of rows that the first statement of a page reads. More rows are read once these are
 * known to be short.
 */
const firstRows = 100;

/** A row of a list. */
export interface PageRow {
  readonly id: string;
  /** The row's key in the order of the list, exact: a time has its microseconds. */
  readonly position: string;
  /**
   * The metadata; null if the rows before this one have filled the page, in which case it is not
   * read.
   */
  readonly metadata: string | null;
}

export interface RowPage<Row> {
  readonly rows: (Omit<Row, "metadata"> & { readonly metadata: string })[];
  /** The position of the next page; undefined on the last page. */
  readonly next: ListPosition | undefined;
}

/**
 * Reads the rows of one page: at most the requested number, and no more after pageBytesMax of
 * metadata, but at least one row if there is one. `read` returns the next rows after a position,
 * with metadataWithin() as their metadata.
 */
export async function readPage<Row extends PageRow>(
  { after, size }: PageRequest,
  read: (part: {
    readonly after: ListPosition | undefined;
    readonly limit: number;
    readonly bytesMax: number;
  }) => Promise<readonly Row[]>,
): Promise<RowPage<Row>> {
  const rows: RowPage<Row>["rows"] = [];
  let bytes = 0;
  let last = after;
  for (;;) {
    const wanted = Math.min(rows.length === 0 ? firstRows : size, size - rows.length);
    // One row more than requested shows whether there is another page.
    const found = await read({ after: last, limit: wanted + 1, bytesMax: pageBytesMax - bytes });
    for (const row of found.slice(0, wanted)) {
      const { id, position, metadata } = row;
      if (metadata === null) return { rows, next: last };
      rows.push({ ...row, metadata });
      bytes += Buffer.byteLength(metadata);
      last = [position, id];
    }
    if (found.length <= wanted) return { rows, next: undefined };
    if (rows.length >= size || bytes >= pageBytesMax) return { rows, next: last };
  }
}

/**
 * Selects the metadata of a row of a subquery; null if the rows before it, in the order of the page
 * (the columns of ORDER BY), have `bytesMax` bytes or more.
 */
export function metadataWithin(
  alias: string,
  bytesMax: number,
  order: RawBuilder<unknown>,
): RawBuilder<string | null> {
  const metadata = sql.ref(`${alias}.metadata`);
  return sql<string | null>`case when coalesce(sum(octet_length(${metadata})) over (
    order by ${order} rows between unbounded preceding and 1 preceding), 0) < ${bytesMax}
    then ${metadata} end`;
}
