import { sql, type Transaction } from "kysely";
import { openIn, type LeasedTable } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { markName, markOf } from "../media/archive-identity.ts";
import { placeOf, type ArchiveSettings } from "../media/archive-place.ts";
import { writeFirstPulse } from "../media/archive-pulse.ts";
import { holdArchiveRow, writeArchiveRow } from "../media/archive-row.ts";
import type { MediaStore } from "../media/media-store.ts";
import { noteEnd, type RestoreNote } from "./restore-note.ts";

const leased: readonly LeasedTable[] = [
  "transcript_job",
  "alignment_job",
  "media_description",
  "webhook_delivery",
  "invitation_mail",
];

/** What a restore has changed in the rows of the backup. */
export interface Settled {
  /** The number of unfinished jobs, which are queued again. */
  readonly jobs: number;
  /** The number of webhook messages that are sent again. */
  readonly deliveries: number;
  readonly archiveId: string | undefined;
}

/**
 * Makes a restored database that of an archive which continues here: work that was in progress is
 * queued again, uploads in several parts begin again, and the media store gets the id of the
 * archive, `archiveId`. `asCopy`: the archive is in quarantine, and its webhooks are disabled.
 */
export async function settleRestored(
  trx: Transaction<Tables>,
  options: {
    readonly store: MediaStore;
    readonly settings: ArchiveSettings;
    readonly note: RestoreNote;
    readonly archiveId: string | undefined;
    readonly asCopy: boolean;
  },
): Promise<Settled> {
  const { note, archiveId, asCopy } = options;
  if (asCopy) {
    await trx
      .updateTable("webhook")
      .set({ disabled_at: sql<Date>`now()`, disabled_reason: "RESTORED_AS_COPY" })
      .where("disabled_at", "is", null)
      .execute();
    // The service that was copied sends this mail.
    await trx
      .updateTable("invitation_mail")
      .set({ state: "CANCELED" })
      .where("state", "=", "PENDING")
      .execute();
  }
  const counts = new Map<LeasedTable, number>();
  // An attempt at a mail that was in progress has no known outcome: `unnoted` still counts it.
  for (const table of leased) {
    // The attempt that was in progress does not count.
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)}
      set lease = lease + 1, due_at = now(), tries = greatest(tries - 1, 0)
      where ${openIn[table]}`.execute(trx);
    counts.set(table, Number(numAffectedRows));
  }
  for (const table of ["webhook_delivery", "invitation_mail"]) {
    await sql`
      update ${sql.table(table)}
      set give_up_at = give_up_at + (now() - ${note.snapshotAt}::timestamptz)
      where state = 'PENDING'`.execute(trx);
  }
  // The bytes of uploads that had not ended are not in the backup.
  await trx
    .updateTable("upload")
    .set({ received_bytes: 0, writer: null, holder: null, held_until: null })
    .where("media_id", "is", null)
    .execute();
  // If no service had started on the database, the first one names the archive. A copy has a name.
  if (archiveId !== undefined) await writeIdentity(trx, { ...options, id: archiveId });
  await noteEnd(trx, note);
  return {
    jobs: (counts.get("transcript_job") ?? 0) + (counts.get("alignment_job") ?? 0),
    deliveries: asCopy ? 0 : (counts.get("webhook_delivery") ?? 0),
    archiveId,
  };
}

async function writeIdentity(
  trx: Transaction<Tables>,
  parts: {
    readonly store: MediaStore;
    readonly settings: ArchiveSettings;
    readonly id: string;
    readonly asCopy: boolean;
  },
): Promise<void> {
  const { store, settings, id, asCopy } = parts;
  // A copy of an archive without a name gets its row here.
  const row = await holdArchiveRow(trx, id);
  await store.notes.replace(markName, markOf({ id, createdAt: row.createdAt }));
  await writeFirstPulse(trx, store);
  const place = await placeOf(settings);
  await writeArchiveRow(trx, { id, place, isQuarantined: asCopy });
}
