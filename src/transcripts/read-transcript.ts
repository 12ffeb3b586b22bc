import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { findSegments, findTranscriptHead, type StoredTranscript } from "./transcript-store.ts";

export type ReadTranscript = (
  reader: { readonly accountId: string; readonly signal: AbortSignal },
  id: string,
  options?: {
    readonly versionId?: string | undefined;
    /**
     * The number of bytes of memory that the result takes per byte of JSON, in addition to the
     * stored bytes. Default: one.
     */
    readonly heldPerByte?: number;
  },
) => Promise<StoredTranscript | undefined>;

/**
 * Creates a function that reads transcripts with their text, and returns undefined if the account
 * has no such transcript. A long text uses a database connection for a while, and time of this
 * thread when it arrives. An account therefore reads one long text at a time, and all accounts
 * together leave half of the connections for other calls. Before reading, the function throws
 * resource_exhausted with RetryInfo if too many reads wait, or if the memory for the account's
 * answers is used up.
 */
export function createReadTranscript({
  db,
  answers,
  connectionsMax = 20,
}: {
  readonly db: Kysely<Tables>;
  /** The memory for answers, including those that are still being created. */
  readonly answers: HeldBytes;
  /** The node's maximum number of database connections. */
  readonly connectionsMax?: number;
}): ReadTranscript {
  const semaphore = new FairSemaphore({
    running: Math.max(1, Math.min(readsMax, Math.floor(connectionsMax / 2))),
    runningOfOne: 1,
    waitingOfOne: 50,
    waitMsMax: 10_000,
    busyReason: "TRANSCRIPTS_BUSY",
  });
  return async ({ accountId, signal }, id, { versionId, heldPerByte = 1 } = {}) => {
    const head = await findTranscriptHead(db, accountId, id, versionId);
    if (!head) return undefined;
    const { segments, ...others } = head;
    const { jsonBytes, jsonZstd } = segments;
    if (jsonZstd) return { ...others, segments: { jsonBytes, jsonZstd } };
    const checkRoom = (): void => {
      answers.hold(accountId, segments.zstdBytes + heldPerByte * jsonBytes)[Symbol.dispose]();
    };
    checkRoom();
    return await semaphore.run(accountId, signal, async () => {
      checkRoom();
      // The segments of a version never change; they are deleted with the transcript.
      const read = await findSegments(db, id, segments.sha256);
      return read && { ...others, segments: { jsonBytes, jsonZstd: read } };
    });
  };
}

/**
 * The number of long texts read concurrently. Each one uses this thread for tens of milliseconds
 * when it arrives.
 */
const readsMax = 4;
