import { zstdDecompressSync } from "node:zlib";
import type { Kysely } from "kysely";
import type { Caller } from "../auth/caller.ts";
import { tooManyJobs } from "../auth/limits.ts";
import type { Meter } from "../auth/meter.ts";
import type { Tables } from "../database/tables.ts";
import type { Aligner } from "../engines/protocol/alignment.ts";
import { installedLanguage } from "../jobs/job-language.ts";
import { countJobsOfKeys, lockJobCounts } from "../jobs/job-store.ts";
import { newId } from "../std/ids.ts";
import { invalidArgument, shown } from "../std/service-error.ts";
import { currentTraceparent } from "../tracing/tracing.ts";
import { staleVersion } from "../transcripts/if-match.ts";
import { transcriptNotFound, versionNotFound } from "../transcripts/resource-names.ts";
import { spokenSegments } from "../transcripts/spoken.ts";
import { findTranscriptHead } from "../transcripts/transcript-store.ts";
import { notAligned, withoutMedia, withoutWords } from "./alignment-refusals.ts";
import { transcriptRefIn } from "./alignment-names.ts";
import { findOpenAlignment, insertAlignment } from "./alignment-store.ts";
import type { StoredAlignment } from "./stored-alignment.ts";

export interface SubmitAlignmentParts {
  readonly db: Kysely<Tables>;
  readonly aligner: Pick<Aligner, "alignedLanguageCodes" | "checkModelsKnown">;
  readonly meter: Pick<Meter, "limitsOf">;
  readonly now: () => number;
}

type Head = NonNullable<Awaited<ReturnType<typeof findTranscriptHead>>>;

/**
 * Inserts a job for the named transcript, or returns the job of its version that has not ended.
 * Throws what is known to be wrong already: see SubmitAlignmentJob in the contract.
 */
export async function submitAlignment(
  parts: SubmitAlignmentParts,
  caller: Caller,
  name: string,
): Promise<StoredAlignment> {
  const { db, aligner, meter, now } = parts;
  const { accountId, keyId = null } = caller;
  const head = await findNamed(db, accountId, name);
  checkAlignable(head, aligner);
  const limits = await meter.limitsOf(caller);
  const transcript = { transcriptId: head.id, versionId: head.version.id };
  return await db.transaction().execute(async (trx) => {
    const unfinished = (await lockJobCounts(trx, [accountId])).get(accountId) ?? 0;
    const open = await findOpenAlignment(trx, accountId, transcript);
    if (open) return open;
    const { account, key } = { account: limits.account.queuedJobs, key: limits.key.queuedJobs };
    if (account > 0 && unfinished >= account) throw tooManyJobs("account", account);
    if (key > 0 && keyId !== null) {
      const ofKey = (await countJobsOfKeys(trx, [accountId], [keyId])).get(keyId) ?? 0;
      if (ofKey >= key) throw tooManyJobs("key", key);
    }
    return await insertAlignment(trx, {
      id: newId(now()),
      accountId,
      keyId,
      ...transcript,
      traceparent: currentTraceparent(),
    });
  });
}

/**
 * Returns the current version of the named transcript. A version that is named must have the
 * segments of the current one.
 */
async function findNamed(db: Kysely<Tables>, accountId: string, name: string): Promise<Head> {
  const named = transcriptRefIn(name);
  if (!named) {
    const description =
      name === ""
        ? "is required"
        : `is ${shown(name)}: transcripts/<id> or transcripts/<id>/versions/<id> is needed`;
    throw invalidArgument([{ field: "transcript", description }]);
  }
  const { transcriptId, versionId } = named;
  const head = await findTranscriptHead(db, accountId, transcriptId);
  if (!head) throw versionId === undefined ? transcriptNotFound(name) : versionNotFound(name);
  if (versionId === undefined || versionId === head.version.id) return head;
  const version = await findTranscriptHead(db, accountId, transcriptId, versionId);
  if (!version) throw versionNotFound(name);
  if (version.segments.sha256.equals(head.segments.sha256)) return head;
  throw staleVersion(head.version.id);
}

function checkAlignable(
  { media, metadata, segments }: Head,
  aligner: SubmitAlignmentParts["aligner"],
): void {
  if (media.id === undefined) throw withoutMedia(media);
  const { jsonZstd, jsonBytes } = segments;
  // Segments that are too long to be read here have words, or the job finds that they have none.
  if (jsonZstd && !hasWords(jsonZstd, jsonBytes)) throw withoutWords();
  const { languageCode } = metadata;
  const installed = aligner.alignedLanguageCodes();
  if (installedLanguage(languageCode, installed) === undefined) {
    aligner.checkModelsKnown();
    throw notAligned(languageCode, installed);
  }
}

function hasWords(jsonZstd: Buffer, jsonBytes: number): boolean {
  const json = zstdDecompressSync(jsonZstd, { maxOutputLength: Math.max(jsonBytes, 1) });
  return spokenSegments(json.toString()).some(({ words }) =>
    words.some(({ text }) => text.trim() !== ""),
  );
}
