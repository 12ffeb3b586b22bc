import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { MediaStore } from "../media/media-store.ts";

/** The archive to check, and the options of the check. */
export interface Archive {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  /** Whether the check reads all bytes of all media. */
  readonly readsMedia: boolean;
  /**
   * Whether removed media is reported as a finding, so that it is deleted before its 30 days are
   * over. Default: no.
   */
  readonly purges?: boolean;
  /** Called with the kind of rows that is being checked, and the number checked so far. */
  readonly onProgress?: ((what: string, count: number) => void) | undefined;
  readonly now?: () => number;
}

/**
 * The age below which rows and bytes may be incomplete, since bytes are stored before their record.
 */
export const underWayMsMax = 3_600_000;

/** An id lower than every other id. */
export const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Yields rows in the order of their ids. Each page is read in one statement, and so in one
 * snapshot; progress is reported after each page.
 */
export async function* paged<Row extends { readonly id: string }>(
  { onProgress }: Archive,
  what: string,
  page: (after: string) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void, undefined> {
  let count = 0;
  for (let after = firstId; ;) {
    const rows = await page(after);
    yield* rows;
    count += rows.length;
    onProgress?.(what, count);
    const last = rows.at(-1);
    if (!last) return;
    after = last.id;
  }
}
