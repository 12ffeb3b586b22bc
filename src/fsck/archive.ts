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
  /** Called with what is checked, and how many of it have been. */
  readonly onProgress?: ((what: string, count: number) => void) | undefined;
  readonly now?: () => number;
}

/** Anything younger may be incomplete: bytes are stored before their record. */
export const underWayMsMax = 3_600_000;

/** Lower than every id. */
export const firstId = "00000000-0000-0000-0000-000000000000";

/**
 * Yields rows in the order of their ids, a page of one statement (and one snapshot) at a time;
 * progress is reported after each page.
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
