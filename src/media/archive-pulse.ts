import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { openRepeat } from "../std/repeat.ts";
import { holdPulse, nextPulse, readPulse, writePulse, type Pulse } from "./archive-row.ts";
import type { MediaStore } from "./media-store.ts";

/** The relation between the pulse of the database and that of the store. */
export type PulseMatch =
  /** The store has the pulse of the database, or one soon after it. */
  | "fits"
  /**
   * The store has continued without this database: the database is a restored copy, or another
   * database writes to the store.
   */
  | "store_ahead"
  /**
   * The database has continued without this store: the store is a copy, or a different folder from
   * that of the other nodes.
   */
  | "store_behind";

interface NotedPulse extends Pulse {
  /** When the pulse was written, in milliseconds by the clock of the node that wrote it. */
  readonly at: number;
}

const noteName = "hlust-pulse";
/**
 * The number of pulses in the store, so that a database that lost its last commits in a failover
 * still finds its own pulse.
 */
const notedMax = 5;
const checkEveryMs = 20_000;
const writeEveryMs = 60_000;
/** The time after which a pulse of another database is ignored. */
const foreignMs = 4 * writeEveryMs;
/**
 * The time within which a running node has written a pulse, even if it missed one or two writes.
 */
export const beatingMs = 3 * writeEveryMs;
/**
 * The number of consecutive failed checks after which the store counts as a different one. Fewer
 * failures can be stale reads.
 */
const missesMax = 3;

/** Checks whether the store is the one that the other nodes of this database use. */
export interface ArchivePulse extends AsyncDisposable {
  /**
   * The reason, for the operator, why the store is not the one that the other nodes use; undefined
   * if it is.
   */
  readonly problem: string | undefined;
}

/**
 * Opens the pulse: the same number in the database and the media store, which increases each
 * minute. The first node that is due writes it to the store and then to the database. Every node
 * checks that its store has the number of its database.
 */
export function openArchivePulse(parts: {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly log: Log;
  /** For tests: the intervals at which the pulse is checked and written. Default 20 s and 60 s. */
  readonly checkEveryMs?: number;
  readonly writeEveryMs?: number;
}): ArchivePulse {
  const { db, store, log } = parts;
  const everyMs = parts.checkEveryMs ?? checkEveryMs;
  const dueAfterMs = parts.writeEveryMs ?? writeEveryMs;
  let [misses, problem]: [number, string | undefined] = [0, undefined];
  const check = async (): Promise<void> => {
    const match = await matchPulse({ db, store });
    misses = match === "fits" ? 0 : misses + 1;
    const before = problem;
    if (match === "fits") problem = undefined;
    else if (misses >= missesMax) problem = problemOf[match];
    if (problem !== undefined && before === undefined) log.error({ match }, "media.store_differs");
    if (problem === undefined && before !== undefined) log.info({}, "media.store_fits");
    if (match === "fits") await beat(parts, dueAfterMs);
  };
  // Failures are only logged, since the readiness of the database and of the store is checked
  // elsewhere.
  const checking = openRepeat({ everyMs, log, event: "archive.pulse_failed" }, check);
  return {
    get problem() {
      return problem;
    },
    [Symbol.asyncDispose]: async () => await checking[Symbol.asyncDispose](),
  };
}

const problemOf = {
  store_ahead:
    "another database writes to this media store, or this database was restored from a backup while the service ran",
  store_behind:
    "this is not the media store that the other nodes use: HLUST_DATA's media folder or S3_BUCKET is a copy of it",
} as const;

/** Compares the store with the database. */
export async function matchPulse({
  db,
  store,
}: {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "notes">;
}): Promise<PulseMatch> {
  // The database is read first, since a pulse is written to the store first.
  const own = await readPulse(db);
  const noted = await readNoted(store);
  const isShown = noted.some(({ number, nonce }) => number === own?.number && nonce === own.nonce);
  if (isShown || (!own && noted.length === 0)) return "fits";
  return (noted[0]?.number ?? 0) < (own?.number ?? 0) ? "store_behind" : "store_ahead";
}

/** Writes the same pulse to a database and a store that have been joined. */
export async function writeFirstPulse(
  trx: Transaction<Tables>,
  store: Pick<MediaStore, "notes">,
): Promise<void> {
  const [own, [latest]] = [await readPulse(trx), await readNoted(store)];
  const pulse = nextPulse(latest && latest.number > (own?.number ?? 0) ? latest : own);
  await note(store, [{ ...pulse, at: Date.now() }]);
  await writePulse(trx, pulse);
}

/** Writes the next pulse if it is due, unless another database has just written one. */
async function beat(
  { db, store }: { readonly db: Kysely<Tables>; readonly store: MediaStore },
  dueAfterMs: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const own = await holdPulse(trx, dueAfterMs);
    if (!own) return;
    const noted = await readNoted(store);
    const at = noted.findIndex(({ number, nonce }) => number === own.number && nonce === own.nonce);
    const [latest] = noted;
    const isForeign = at > 0 && latest && latest.at > Date.now() - foreignMs;
    if (at < 0 || isForeign) return;
    const pulse = nextPulse(own);
    await note(store, [{ ...pulse, at: Date.now() }, ...noted.slice(at)].slice(0, notedMax));
    await writePulse(trx, pulse);
  });
}

async function note(
  store: Pick<MediaStore, "notes">,
  pulses: readonly NotedPulse[],
): Promise<void> {
  await store.notes.replace(noteName, `${JSON.stringify(pulses)}\n`);
}

/**
 * Returns the pulses in the store, latest first; none if the note does not exist or is invalid.
 */
async function readNoted(store: Pick<MediaStore, "notes">): Promise<readonly NotedPulse[]> {
  const text = (await store.notes.read(noteName)) ?? "[]";
  try {
    // Only note() writes this note.
    const noted: readonly NotedPulse[] = JSON.parse(text);
    return Array.isArray(noted) ? noted : [];
  } catch {
    return [];
  }
}
