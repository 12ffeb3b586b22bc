import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { ServiceError } from "../std/service-error.ts";
import type { CheckedPhrase } from "../vocabulary/check-phrase.ts";
import { comparedBytesMax, findEdits } from "./find-edits.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn } from "./resource-names.ts";
import type { PackedSegments } from "./segments.ts";
import { runInWorkerThread } from "./worker-threads.ts";

/**
 * Finds what a whole new text corrects in the current version of a transcript that a job has
 * recognized. Returns undefined for other transcripts, for very long texts, and if the service is
 * too busy: a save never fails because of the vocabulary.
 */
export async function wholeCorrections(
  { db, read }: { readonly db: Kysely<Tables>; readonly read: ReadTranscript },
  caller: Parameters<ReadTranscript>[0],
  name: string,
  sent: PackedSegments,
): Promise<
  { readonly versionId: string; readonly corrections: readonly CheckedPhrase[] } | undefined
> {
  const id = transcriptIdIn(name);
  if (sent.jsonBytes > comparedBytesMax || !(await isRecognized(db, id))) return undefined;
  try {
    const stored = await read(caller, id, { heldPerByte: 2 });
    if (!stored || stored.segments.jsonBytes > comparedBytesMax) return undefined;
    const { jsonZstd, jsonBytes } = stored.segments;
    const edit = {
      before: { jsonZstd, jsonBytes },
      after: { jsonZstd: sent.jsonZstd, jsonBytes: sent.jsonBytes },
      languageCode: stored.metadata.languageCode,
    };
    const bytes = jsonBytes + sent.jsonBytes;
    const options = { ...caller, bytes, use: "answers" } as const;
    const corrections = await runInWorkerThread(findEdits, edit, options);
    return { versionId: stored.version.id, corrections };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "resource_exhausted") return undefined;
    throw error;
  }
}

async function isRecognized(db: Kysely<Tables>, transcriptId: string): Promise<boolean> {
  const row = await db
    .selectFrom("transcript_version")
    .where("transcript_id", "=", transcriptId)
    .where("kind", "=", "RECOGNIZED")
    .select("id")
    .executeTakeFirst();
  return row !== undefined;
}
