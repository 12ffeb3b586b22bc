import { setTimeout as sleep } from "node:timers/promises";
import { sql, type Kysely } from "kysely";
import { later } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { ServiceError } from "../std/service-error.ts";

/** The duration of a hold. A call that is alive extends it every second. */
const holdMs = 10_000;
const extendEveryMs = 1_000;
const askEveryMs = 250;
/** The time in which a call stops after its hold is lost. */
const stopMsMax = 3_000;

/** The right to write the bytes of an upload. Disposing releases it. */
export interface UploadHold extends AsyncDisposable {
  /**
   * Aborts when another call wants to write, when the upload is deleted, and when the hold could
   * not be extended in time. The call that holds the upload must then stop and dispose of the hold.
   */
  readonly signal: AbortSignal;
}

/**
 * Waits until no other call writes the bytes of an upload, on any node. The latest call gets the
 * upload: a call that writes already is asked to stop, since its connection may be dead, and the
 * hold of a process that has died ends after 10 s. Throws not_found if the upload does not exist,
 * UPLOAD_TAKEN_OVER if a later call wants to write, and the reason of the signal.
 */
export async function holdUpload(
  db: Kysely<Tables>,
  uploadId: string,
  signal?: AbortSignal,
): Promise<UploadHold> {
  const writer = newId();
  const set = db.updateTable("upload").set({ writer }).where("id", "=", uploadId);
  const { numUpdatedRows } = await set.executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) throw new ServiceError("not_found", "the upload does not exist");
  while (!(await take(db, uploadId, writer))) {
    if (!(await isWriter(db, uploadId, writer))) throw takenOver();
    await sleep(askEveryMs, undefined, signal && { signal }).catch(() => {});
    signal?.throwIfAborted();
  }
  return new Hold(db, uploadId, writer);
}

/** Begins the hold, if no other call has one. */
async function take(db: Kysely<Tables>, uploadId: string, writer: string): Promise<boolean> {
  // A hold that ends later than a hold can was written before the clock of the database was set
  // back.
  const { numAffectedRows = 0n } = await sql`
    update upload set holder = ${writer}, held_until = ${later(holdMs)}
    where id = ${uploadId} and writer = ${writer}
      and (held_until is null or held_until <= now() or held_until > ${later(holdMs)})
  `.execute(db);
  return numAffectedRows > 0n;
}

async function isWriter(db: Kysely<Tables>, uploadId: string, writer: string): Promise<boolean> {
  const row = await db
    .selectFrom("upload")
    .where("id", "=", uploadId)
    .where("writer", "=", writer)
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}

class Hold implements UploadHold {
  readonly signal: AbortSignal;
  readonly #db: Kysely<Tables>;
  readonly #uploadId: string;
  readonly #writer: string;
  readonly #stopping = new AbortController();

  constructor(db: Kysely<Tables>, uploadId: string, writer: string) {
    this.#db = db;
    this.#uploadId = uploadId;
    this.#writer = writer;
    const lost = new AbortController();
    this.signal = lost.signal;
    void this.#keep(lost);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#db
      .updateTable("upload")
      .set({ holder: null, held_until: null })
      .where("id", "=", this.#uploadId)
      .where("holder", "=", this.#writer)
      .execute()
      // The hold ends by itself.
      .catch(() => {});
  }

  /** Extends the hold until it is lost or released. */
  async #keep(lost: AbortController): Promise<void> {
    const { signal } = this.#stopping;
    let heldUntil = performance.now() + holdMs;
    while (!lost.signal.aborted) {
      await sleep(extendEveryMs, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const askedAt = performance.now();
      // While the database does not answer, the hold stays until shortly before its end.
      const isHeld = await this.#extend().catch(() => undefined);
      if (isHeld === true) heldUntil = askedAt + holdMs;
      const isOver = performance.now() > heldUntil - stopMsMax;
      if (isHeld === false || isOver) lost.abort(takenOver());
    }
  }

  /** Extends the hold. Returns false if another call wants to write or the upload was deleted. */
  async #extend(): Promise<boolean> {
    const { numAffectedRows = 0n } = await sql`
      update upload set held_until = ${later(holdMs)}
      where id = ${this.#uploadId} and holder = ${this.#writer} and writer = ${this.#writer}
    `.execute(this.#db);
    return numAffectedRows > 0n;
  }
}

function takenOver(): ServiceError {
  return new ServiceError("aborted", "a later call writes this media", {
    reason: "UPLOAD_TAKEN_OVER",
  });
}
