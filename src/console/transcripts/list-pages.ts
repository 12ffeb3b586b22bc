import type { Sort } from "./search.ts";

/**
 * The pages of a list that are known so far: their tokens and numbers of rows. The rows themselves
 * can be dropped, and fetched again with the page token.
 */
export interface ListPages {
  readonly id: number;
  readonly filter: string;
  readonly sort: Sort;
  readonly pages: readonly KnownPage[];
  /** The token of the page after these; undefined if there is none. */
  readonly next: string | undefined;
}

interface KnownPage {
  readonly token: string;
  /** The index of the page's first row in the list, from 0. */
  readonly index: number;
  readonly rows: number;
}

/** Creates a list without any known pages. The token of the first page is "". */
export function newList(id: number, filter: string, sort: Sort = "changed"): ListPages {
  return { id, filter, sort, pages: [], next: "" };
}

export function rowCount({ pages }: ListPages): number {
  const last = pages.at(-1);
  return last ? last.index + last.rows : 0;
}

/**
 * The page that contains a row, and the row's index in that page; undefined for a row after the
 * known pages.
 */
export function placeOf(
  { pages }: ListPages,
  index: number,
): { readonly page: number; readonly row: number } | undefined {
  let [low, high] = [0, pages.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const page = pages[middle];
    if (!page) return undefined;
    if (index < page.index) high = middle - 1;
    else if (index >= page.index + page.rows) low = middle + 1;
    else return { page: middle, row: index - page.index };
  }
  return undefined;
}

/** The token of a page; undefined if the page does not exist or its token is not known yet. */
export function tokenOf({ pages, next }: ListPages, page: number): string | undefined {
  return page === pages.length ? next : pages[page]?.token;
}

/** Returns the list with a page that was read. A page that is read again may have lost rows. */
export function withPage(
  list: ListPages,
  page: number,
  read: { readonly rows: number; readonly next: string | undefined },
): ListPages {
  const { pages } = list;
  const token = tokenOf(list, page);
  if (token === undefined) return list;
  if (page === pages.length) {
    const known = { token, index: rowCount(list), rows: read.rows };
    return { ...list, pages: [...pages, known], next: read.next };
  }
  if (pages[page]?.rows === read.rows) return list;
  let index = 0;
  const moved = pages.map((known, at) => {
    const rows = at === page ? read.rows : known.rows;
    index += rows;
    return { ...known, rows, index: index - rows };
  });
  return { ...list, pages: moved };
}
