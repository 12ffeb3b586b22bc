import type { HandlerContext } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { findSegments, findTranscriptHead, type StoredTranscript } from "./transcript-store.ts";

export type ReadTranscript = (
  context: Pick<HandlerContext, "values" | "signal">,
  id: string,
  options?: {
    readonly versionId?: string | undefined;
    /**
     * What is made of the text holds so many bytes for each byte of its JSON, beside what is
     * stored. Default: one.
     */
    readonly heldPerByte?: number;
  },
) => Promise<StoredTranscript | undefined>;

/**
 * Reads transcripts with their text: undefined for what the account has not. A long text takes its
 * connection to the database for a while, and this thread's time when it comes: an account reads
 * one at a time, and all accounts together leave half of the connections to others. Throws
 * resource_exhausted with RetryInfo when too many wait, or when the account's answers have no room
 * for it: before it is read.
 */
export function createReadTranscript({
  db,
  answers,
  connectionsMax = 20,
}: {
  readonly db: Kysely<Tables>;
  /** What answers hold in memory, also while they are made. */
  readonly answers: HeldBytes;
  /** Of the node to the database. */
  readonly connectionsMax?: number;
}): ReadTranscript {
  const lane = new FairSemaphore({
    running: Math.max(1, Math.min(readsMax, Math.floor(connectionsMax / 2))),
    runningOfOne: 1,
    waitingOfOne: 50,
    waitMsMax: 10_000,
    busyReason: "TRANSCRIPTS_BUSY",
  });
  return async (context, id, { versionId, heldPerByte = 1 } = {}) => {
    const { accountId } = callerOf(context);
    const head = await findTranscriptHead(db, accountId, id, versionId);
    if (!head) return undefined;
    const { segments, ...others } = head;
    const { jsonBytes, jsonZstd } = segments;
    if (jsonZstd) return { ...others, segments: { jsonBytes, jsonZstd } };
    const checkRoom = (): void => {
      answers.hold(accountId, segments.zstdBytes + heldPerByte * jsonBytes)[Symbol.dispose]();
    };
    checkRoom();
    return await lane.run(accountId, context.signal, async () => {
      checkRoom();
      // Those of a version never change; they go with their transcript.
      const read = await findSegments(db, id, segments.sha256);
      return read && { ...others, segments: { jsonBytes, jsonZstd: read } };
    });
  };
}

/**
 * Long texts that are read at a time: each takes this thread for tens of milliseconds when it
 * comes.
 */
const readsMax = 4;
