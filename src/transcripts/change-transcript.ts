import type { HandlerContext } from "@connectrpc/connect";
import type { Kysely, Transaction } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcript } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { addCandidates } from "../vocabulary/add-candidates.ts";
import type { CheckedPhrase } from "../vocabulary/check-phrase.ts";
import { answerOf, linksOf } from "./answer-transcript.ts";
import { checkIfMatch } from "./if-match.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import {
  appendVersion,
  lockTranscript,
  type TranscriptHead,
  type VersionContent,
} from "./transcript-changes.ts";
import { transcriptMessage } from "./transcript-message.ts";
import { findTranscript, findTranscriptAround, type StoredTranscript } from "./transcript-store.ts";

export interface ChangeParts {
  readonly db: Kysely<Tables>;
  readonly urls: SignedUrls;
  readonly now?: () => number;
}

/** The content of a version by the caller, and what it corrects, for the account's vocabulary. */
type CallersContent = Omit<VersionContent, "author"> & {
  readonly corrections?: readonly CheckedPhrase[];
};

/**
 * Appends a version to the head that If-Match names. Concurrent changes to a transcript are applied
 * one after the other.
 */
export async function changeTranscript(
  parts: ChangeParts,
  context: HandlerContext,
  name: string,
  contentOf: (
    head: TranscriptHead,
    trx: Transaction<Tables>,
  ) => CallersContent | Promise<CallersContent>,
): Promise<Transcript> {
  const { accountId } = callerOf(context);
  const stored = await inChange(parts, context, name, async (trx, head, append) => {
    const content = await contentOf(head, trx);
    await append(content);
    return "jsonZstd" in content.segments
      ? await findTranscriptAround(trx, accountId, head.id, content.segments)
      : await findTranscript(trx, accountId, head.id);
  });
  return answerOf(parts, accountId, stored);
}

/**
 * Appends a version as changeTranscript() does, unless there is no content because nothing changes.
 * Returns the transcript without its segments.
 */
export async function changeWithoutSegments(
  parts: ChangeParts,
  context: HandlerContext,
  name: string,
  contentOf: (head: TranscriptHead) => CallersContent | undefined,
): Promise<Transcript> {
  const { accountId } = callerOf(context);
  const stored = await inChange(parts, context, name, async (trx, head, append) => {
    const content = contentOf(head);
    if (content) await append(content);
    return await findTranscriptAround(trx, accountId, head.id, noSegments);
  });
  return transcriptMessage(stored, linksOf(parts, stored), []);
}

const noSegments = { jsonZstd: Buffer.alloc(0), jsonBytes: 0 };

/** Runs `work` with the locked head that If-Match names, and a function that appends a version. */
async function inChange(
  { db, now = Date.now }: ChangeParts,
  context: HandlerContext,
  name: string,
  work: (
    trx: Transaction<Tables>,
    head: TranscriptHead,
    append: (content: CallersContent) => Promise<unknown>,
  ) => Promise<StoredTranscript | undefined>,
): Promise<StoredTranscript> {
  const { accountId, actor: author } = callerOf(context);
  const id = transcriptIdIn(name);
  const stored = await db.transaction().execute(async (trx) => {
    const head = await lockTranscript(trx, accountId, id);
    if (!head) throw transcriptNotFound(name);
    checkIfMatch(context.requestHeader.get("if-match"), head.versionId);
    const append = async ({ corrections = [], ...content }: CallersContent) => {
      await appendVersion(trx, head, { ...content, author }, new Date(now()));
      await addCandidates(trx, accountId, id, corrections);
    };
    return await work(trx, head, append);
  });
  if (!stored) throw transcriptNotFound(name);
  return stored;
}
