import { setTimeout as sleep } from "node:timers/promises";
import { isMediaHeld, withoutDeferred } from "../media/media-hold.ts";
import { abandonedOf, findMedia, unrecordedOf } from "../media/media-records.ts";
import { underWayMsMax, type Archive } from "./archive.ts";
import type { Finding } from "./finding.ts";

const pageIds = 1_000;
/** The maximum delay between the deletion of a record and that of its bytes by the service. */
const goingMs = 2_000;

/** Reports bytes in the store without a record, and of uploads that were never completed. */
export async function* checkStore(archive: Archive): AsyncGenerator<Finding, void, undefined> {
  const { store, onProgress, now = Date.now } = archive;
  const oldest = now() - underWayMsMax;
  let count = 0;
  let page: string[] = [];
  for await (const { id, putAt } of store.list()) {
    count += 1;
    if (putAt.getTime() > oldest) continue;
    page.push(id);
    if (page.length < pageIds) continue;
    onProgress?.("stored media", count);
    yield* unrecordedFindings(archive, page);
    page = [];
  }
  yield* unrecordedFindings(archive, page);
  onProgress?.("stored media", count);
  for await (const part of store.unfinished?.() ?? []) {
    const { name, since } = part;
    if (since.getTime() > oldest) continue;
    const what = `no bytes have arrived since ${since.toISOString()}`;
    const run = async () => {
      await part.remove();
      return true;
    };
    const remedy = { done: "it was deleted", run };
    yield { code: "MEDIA_UNFINISHED", name: `media/unfinished/${name}`, what, remedy };
  }
  yield* partialFindings(archive, oldest);
}

/** Reports partial media that no upload waits for. */
async function* partialFindings(
  { db, store }: Archive,
  oldest: number,
): AsyncGenerator<Finding, void, undefined> {
  for await (const { id, since } of store.partial.list()) {
    if (since.getTime() > oldest || (await abandonedOf(db, [id])).length === 0) continue;
    const run = async () => {
      await store.partial.abort(id);
      return true;
    };
    const remedy = { done: "it was deleted", run };
    const what = "no upload waits for the rest of its bytes";
    yield { code: "MEDIA_UNFINISHED", name: `media/partial/${id}`, what, remedy };
  }
}

async function* unrecordedFindings(
  { db, store }: Archive,
  ids: readonly string[],
): AsyncGenerator<Finding, void, undefined> {
  const unrecorded = await withoutDeferred(db, await unrecordedOf(db, ids));
  if (unrecorded.length > 0) await sleep(goingMs);
  for (const id of unrecorded) {
    const bytes = await store.sizeBytes(id);
    if (bytes === undefined || (await findMedia(db, id))) continue;
    const run = async () => {
      if (await isMediaHeld(db)) return false;
      await store.removed.add(id);
      return true;
    };
    const remedy = { done: "they were set aside", run };
    const what = `${bytes} bytes are in the store without a record`;
    yield { code: "MEDIA_UNRECORDED", name: `media/${id}`, what, remedy };
  }
}
