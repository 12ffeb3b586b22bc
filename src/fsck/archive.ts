import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { MediaStore } from "../media/media-store.ts";

/** What is checked, and how. */
export interface Archive {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  /** Whether all bytes of all media are read. */
  readonly readsMedia: boolean;
  /**
   * Whether bytes that were set aside are a finding, to be deleted before their days are over.
   * Default: no.
   */
  readonly purges?: boolean;
  /** How many of what have been looked at. */
  readonly onProgress?: ((what: string, count: number) => void) | undefined;
  readonly now?: () => number;
}

/** What is younger may be on its way: bytes before their record, a put before its end. */
export const underWayMsMax = 3_600_000;

/** Below every id. */
export const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Yields rows in the order of their ids, a page of one statement (and one snapshot) at a time;
 * progress is told after each.
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
