import { isMediaHeld } from "../media/media-hold.ts";
import { unrecordedOf } from "../media/media-records.ts";
import type { Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageIds = 1_000;

/**
 * Checks removed media. Bytes with a record are restored, as the service does. Bytes without a
 * record are a finding if the archive is to be purged.
 */
export async function* checkRemoved(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const { store, onProgress } = archive;
  let count = 0;
  let page: { readonly id: string; readonly removedAt: Date }[] = [];
  for await (const removed of store.removed.list()) {
    count += 1;
    page.push(removed);
    if (page.length < pageIds) continue;
    yield* findingsOf(archive, page);
    page = [];
  }
  yield* findingsOf(archive, page);
  onProgress?.("set aside", count);
}

async function* findingsOf(
  { db, store, purges = false }: Archive,
  page: readonly { readonly id: string; readonly removedAt: Date }[],
): AsyncGenerator<Finding, void, undefined> {
  const ids = page.map(({ id }) => id);
  const unrecorded = new Set(await unrecordedOf(db, ids));
  for (const { id, removedAt } of page) {
    const name = `media/${id}`;
    const since = `since ${removedAt.toISOString()}`;
    if (!unrecorded.has(id)) {
      const remedy = { done: "they were restored", run: () => store.removed.putBack(id) };
      yield { code: "MEDIA_SET_ASIDE", name, what: `its bytes are set aside ${since}`, remedy };
    } else if (purges) {
      const run = async () => {
        if (await isMediaHeld(db)) return false;
        await store.removed.delete(id);
        return true;
      };
      const remedy = { done: "they were deleted", run };
      yield { code: "MEDIA_PURGED", name, what: `its bytes were set aside ${since}`, remedy };
    }
  }
}
