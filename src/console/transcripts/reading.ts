/**
 * How far a list has been read that comes page by page: which pages there are, and where each
 * begins. What stands on them can be forgotten, and asked for again by the page's token.
 */
export interface Reading {
  readonly id: number;
  readonly filter: string;
  readonly pages: readonly KnownPage[];
  /** The token of the page behind them; undefined once they are all. */
  readonly next: string | undefined;
}

interface KnownPage {
  readonly token: string;
  /** Of its first row, from 0. */
  readonly index: number;
  readonly rows: number;
}

/** A list of which nothing is known yet. The first page has no token. */
export function newReading(id: number, filter: string): Reading {
  return { id, filter, pages: [], next: "" };
}

export function rowCount({ pages }: Reading): number {
  const last = pages.at(-1);
  return last ? last.index + last.rows : 0;
}

/**
 * Where a row stands: the page, and how many rows of it come before; undefined behind what is
 * known.
 */
export function placeOf(
  { pages }: Reading,
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

/** The token by which a page is asked for; undefined where there is none, or none is known. */
export function tokenOf({ pages, next }: Reading, page: number): string | undefined {
  return page === pages.length ? next : pages[page]?.token;
}

/**
 * The reading after a page has come, for the first time or again: then rows may have gone from it.
 */
export function withPage(
  reading: Reading,
  page: number,
  came: { readonly rows: number; readonly next: string | undefined },
): Reading {
  const { pages } = reading;
  const token = tokenOf(reading, page);
  if (token === undefined) return reading;
  if (page === pages.length) {
    const known = { token, index: rowCount(reading), rows: came.rows };
    return { ...reading, pages: [...pages, known], next: came.next };
  }
  if (pages[page]?.rows === came.rows) return reading;
  let index = 0;
  const moved = pages.map((known, at) => {
    const rows = at === page ? came.rows : known.rows;
    index += rows;
    return { ...known, rows, index: index - rows };
  });
  return { ...reading, pages: moved };
}
