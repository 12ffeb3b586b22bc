import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import { settleArchive } from "./archive-identity.ts";
import type { ArchiveSettings } from "./archive-place.ts";
import { beatingMs, matchPulse, openArchivePulse, type ArchivePulse } from "./archive-pulse.ts";
import { quarantineReasons, withoutDeletions } from "./archive-quarantine.ts";
import { copiedStoreRefusal } from "./archive-refusal.ts";
import { isBeating } from "./archive-row.ts";
import { deleteDeferred, isMediaHeld, withHolds } from "./media-hold.ts";
import type { MediaStore } from "./media-store.ts";
import { openMediaStore } from "./open-media-store.ts";
import { sweepMedia, type SweepParts } from "./sweep-media.ts";

/**
 * The interval between sweeps of the store, short enough that bytes left by a kill are set aside
 * within an hour.
 */
const sweepEveryMs = 600_000;

/** The media store of a service, which belongs to the same archive as its database. */
export interface ServedArchive extends AsyncDisposable {
  readonly store: MediaStore;
  /**
   * Why this may be a copy of an archive that is used elsewhere. undefined if it is not a copy and
   * the service runs normally.
   */
  readonly quarantine: string | undefined;
  /** Resolves if media can be written and read. Otherwise rejects with the reason. */
  ping(): Promise<{ readonly quarantine?: string }>;
}

/**
 * Opens the media store of a service, and sweeps it regularly. Rejects with a sentence for the
 * operator, and changes nothing, if the database and store do not belong to one archive. In
 * quarantine, nothing is swept or deleted.
 */
export async function openServedArchive(
  settings: ArchiveSettings,
  parts: {
    readonly db: Kysely<Tables>;
    readonly log: Log;
    /** Whether the operator has requested quarantine. */
    readonly isQuarantined: boolean;
    /** The number of days for which removed media is kept. */
    readonly removedDays: number;
    /** For tests: the intervals at which the pulse is checked and written. */
    readonly pulseMs?: { readonly checkEveryMs: number; readonly writeEveryMs: number };
  },
): Promise<ServedArchive> {
  const { db, log, removedDays, pulseMs } = parts;
  const quarantine = await settle(settings, parts);
  await using opened = new AsyncDisposableStack();
  const sweeps = quarantine === undefined;
  const store = opened.use(await openMediaStore(settings, { log, sweeps }));
  const pulse = sweeps ? opened.use(openArchivePulse({ db, store, log, ...pulseMs })) : undefined;
  if (pulse) opened.use(openMediaSweep({ db, store, log, removedDays }, pulse));
  else log.warn({ reason: quarantine }, "archive.quarantine");
  const open = opened.move();
  return {
    store: sweeps ? withHolds(store, { db, log }) : withoutDeletions(store),
    quarantine,
    async ping() {
      await store.ping();
      if (pulse?.problem !== undefined) throw new ServiceError("unavailable", pulse.problem);
      return quarantine === undefined ? {} : { quarantine };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Determines, before anything is swept, whether and why the archive is in quarantine. */
async function settle(
  settings: ArchiveSettings,
  parts: { readonly db: Kysely<Tables>; readonly log: Log; readonly isQuarantined: boolean },
): Promise<string | undefined> {
  const { db, log, isQuarantined } = parts;
  await using store = await openMediaStore(settings, { log, sweeps: false });
  const row = await settleArchive({ db, store, settings, log });
  const asked = isQuarantined ? ["it was requested (--quarantine)"] : [];
  const reasons = [...asked, ...(await quarantineReasons({ db, store, settings }, row))];
  // A copy of only the media, while other nodes run, is not a copy of an archive. Media uploaded to
  // the copy would be missing from the original store.
  const isCopiedStore = reasons.length > 0 && (await matchPulse({ db, store })) === "store_behind";
  if (isCopiedStore && (await isBeating(db, beatingMs))) throw copiedStoreRefusal(settings);
  return reasons.length === 0 ? undefined : reasons.join("; ");
}

/**
 * Sweeps regularly while this store is the one that the other nodes use, and no backup holds
 * deletions back.
 */
function openMediaSweep(parts: SweepParts, pulse: ArchivePulse): AsyncDisposable {
  const options = { everyMs: sweepEveryMs, log: parts.log, event: "media.cleaning_failed" };
  const store = withHolds(parts.store, parts);
  return openRepeat(options, async (signal) => {
    if (pulse.problem !== undefined || (await isMediaHeld(parts.db))) return;
    await deleteDeferred({ ...parts, signal });
    await sweepMedia({ ...parts, store, signal });
  });
}
