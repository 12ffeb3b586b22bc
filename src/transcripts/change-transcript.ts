import type { HandlerContext } from "@connectrpc/connect";
import type { Kysely, Transaction } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcript } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { answerOf } from "./answer-transcript.ts";
import { checkIfMatch } from "./if-match.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import {
  appendVersion,
  lockTranscript,
  type TranscriptHead,
  type VersionContent,
} from "./transcript-changes.ts";
import { findTranscript, findTranscriptAround } from "./transcript-store.ts";

/**
 * Appends a version to the head that If-Match names. Concurrent changes to a transcript are applied
 * one after the other.
 */
export async function changeTranscript(
  parts: {
    readonly db: Kysely<Tables>;
    readonly urls: SignedUrls;
    readonly now?: () => number;
  },
  context: HandlerContext,
  name: string,
  contentOf: (
    head: TranscriptHead,
    trx: Transaction<Tables>,
  ) => VersionContent | Promise<VersionContent>,
): Promise<Transcript> {
  const { db, now = Date.now } = parts;
  const { accountId } = callerOf(context);
  const id = transcriptIdIn(name);
  const stored = await db.transaction().execute(async (trx) => {
    const head = await lockTranscript(trx, accountId, id);
    if (!head) throw transcriptNotFound(name);
    checkIfMatch(context.requestHeader.get("if-match"), head.versionId);
    const content = await contentOf(head, trx);
    await appendVersion(trx, head, content, new Date(now()));
    return "jsonZstd" in content.segments
      ? await findTranscriptAround(trx, accountId, id, content.segments)
      : await findTranscript(trx, accountId, id);
  });
  if (!stored) throw transcriptNotFound(name);
  return answerOf(parts, accountId, stored);
}
