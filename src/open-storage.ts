import type { Kysely } from "kysely";
import type { Config } from "./config.ts";
import type { Tables } from "./database/tables.ts";
import { contentJobs, openMedia, type MediaService } from "./doors.ts";
import type { Arrivals } from "./jobs/arrivals.ts";
import type { MediaStore } from "./media/media-store.ts";
import { openServedArchive, type ServedArchive } from "./media/open-served-archive.ts";
import { recordedStore } from "./media/recorded-store.ts";
import { openUploadCollector } from "./media/upload-collector.ts";
import type { NodeMetrics } from "./open-metrics.ts";
import { newId } from "./std/ids.ts";
import type { Log } from "./std/log.ts";

/** Opens the archive, whose media operations are recorded if the node has metrics. */
export async function openArchive(
  config: Config,
  parts: AsyncDisposableStack,
  given: Omit<Parameters<typeof openServedArchive>[1], "removedDays">,
  { storage }: Pick<NodeMetrics, "storage">,
): Promise<Pick<ServedArchive, "store" | "quarantine" | "ping">> {
  const kept = { ...given, removedDays: config.removedMediaDays };
  const archive = parts.use(await openServedArchive(config, kept));
  const { store, quarantine } = archive;
  return {
    store: storage ? recordedStore(store, storage) : store,
    quarantine,
    ping: () => archive.ping(),
  };
}

/**
 * Opens uploads and the media door. `collects` states whether this node collects the uploads that
 * clients have put into the bucket.
 */
export async function openMediaOf(
  { uploadBytesMax, accountLimits }: Config,
  parts: AsyncDisposableStack,
  given: {
    readonly db: Kysely<Tables>;
    readonly store: MediaStore;
    readonly publicUrl: () => string;
    readonly collects: boolean;
    readonly arrivals: { readonly jobs: Arrivals };
    readonly log: Log;
  },
): Promise<MediaService> {
  const { db, store, publicUrl, collects, log } = given;
  const waiting = contentJobs(given.arrivals.jobs);
  const { direct } = store;
  const limits = { uploadBytesMax, storedBytesMax: accountLimits.storedBytes };
  const collector =
    collects && direct
      ? parts.use(openUploadCollector({ db, store, direct, contentJobs: waiting, log, ...limits }))
      : undefined;
  const archive = { db, store, collector, contentJobs: waiting };
  return await openMedia(archive, { publicUrl, log, ...limits });
}

/**
 * Returns the origins, in addition to the service's own, to which browsers send media and from
 * which they load it.
 */
export async function mediaOriginsOf({ direct }: MediaStore): Promise<string[]> {
  return direct ? [new URL(await direct.uploadUrl(newId())).origin] : [];
}
