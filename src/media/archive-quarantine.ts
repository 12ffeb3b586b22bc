import { setTimeout as sleep } from "node:timers/promises";
import type { ArchiveParts } from "./archive-identity.ts";
import { placeOf } from "./archive-place.ts";
import { matchPulse, type PulseMatch } from "./archive-pulse.ts";
import type { ArchiveRow } from "./archive-row.ts";
import type { MediaStore } from "./media-store.ts";
import { ServiceError } from "../std/service-error.ts";

/** The maximum number of reads of the store, since a read can be stale for a moment. */
const readsMax = 4;
const readAgainMs = 500;

/**
 * Returns the reasons why an archive may be a copy of one that is used elsewhere, for the operator;
 * none if the archive is certainly not a copy. A copy runs no jobs and sends no webhooks until the
 * operator confirms that the archive continues here.
 */
export async function quarantineReasons(
  parts: ArchiveParts,
  row: ArchiveRow,
): Promise<readonly string[]> {
  const { settings } = parts;
  const place = await placeOf(settings);
  const { store, folder } = row.place;
  const reasons: string[] = [];
  if (row.quarantinedAt) {
    const at = row.quarantinedAt.toISOString();
    reasons.push(`it was put in quarantine at ${at} (hlust archive quarantine)`);
  }
  if (row.isCopy) reasons.push("its database was restored from a dump, or copied row by row");
  if (folder !== undefined && place.folder !== undefined && folder !== place.folder) {
    reasons.push(`the folder of HLUST_DATA, ${settings.dataFolder}, is a copy`);
  }
  if (store !== undefined && store !== place.store) {
    reasons.push(`its media was in ${store} and is in ${place.store} now`);
  }
  const match = await settledMatch(parts);
  if (match !== "fits") reasons.push(matchReasons[match]);
  return reasons;
}

const matchReasons = {
  store_ahead:
    "its media store was used without this database, which was restored from a backup, or copied",
  store_behind: "its database was used without this media store, which is a copy of another",
} as const;

async function settledMatch(parts: ArchiveParts): Promise<PulseMatch> {
  for (let reads = 1; ; reads += 1) {
    const match = await matchPulse(parts);
    if (match === "fits" || reads === readsMax) return match;
    await sleep(readAgainMs);
  }
}

/**
 * Returns a store that keeps all media: deleted media stays, and is set aside by a sweep after the
 * quarantine. Partial media is neither continued nor finished.
 */
export function withoutDeletions(store: MediaStore): MediaStore {
  return {
    ...store,
    keepsAll: true,
    delete: () => Promise.resolve(),
    // The archive that this one is a copy of may continue the same partial media.
    partial: {
      ...store.partial,
      append: () => Promise.reject(partialInQuarantine()),
      finish: () => Promise.reject(partialInQuarantine()),
      abort: () => Promise.resolve(),
    },
    removed: {
      ...store.removed,
      add: () => Promise.resolve(),
      putBack: () => Promise.resolve(false),
      delete: () => Promise.resolve(),
    },
  };
}

function partialInQuarantine(): ServiceError {
  return new ServiceError(
    "unavailable",
    "the archive is in quarantine: media cannot arrive in several parts",
    { reason: "ARCHIVE_IN_QUARANTINE", retryAfterMs: 60_000 },
  );
}
