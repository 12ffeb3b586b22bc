import { create, equals } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callerOf } from "../auth/caller.ts";
import {
  TranscriptMetadataSchema,
  type ModifySegmentsRequest,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { FieldViolation } from "../std/service-error.ts";
import { changeWithoutSegments, type ChangeParts } from "./change-transcript.ts";
import type { CheckedChange } from "./check-changes.ts";
import type { CheckedPhrase } from "../vocabulary/check-phrase.ts";
import { checkNote, checkTranscript } from "./check-transcript.ts";
import { throwViolations } from "./check-values.ts";
import { requireVersion, staleVersion } from "./if-match.ts";
import { setFields } from "./merge.ts";
import { mergeIntoHead } from "./merge-into-head.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import { sentChanges } from "./sent-segments.ts";
import { spliceSegments } from "./splice-segments.ts";
import type { VersionContent } from "./transcript-changes.ts";
import { runInWorkerThread } from "./worker-threads.ts";

/** The method that changes ranges of segments. */
export function modifyMethods(read: ReadTranscript, parts: ChangeParts) {
  return {
    async modifySegments(request, context) {
      const { name, note, merged, metadata = create(TranscriptMetadataSchema) } = request;
      const id = transcriptIdIn(name);
      const sent = sentChanges(request);
      const fields = new Set(setFields(request.metadata));
      const { versionId, violations } = requireVersion(context.requestHeader.get("if-match"));
      throwViolations([
        ...violations,
        ...("violations" in sent ? sent.violations : checkSent(request, sent.changes, fields.size)),
        ...checkTranscript(metadata, fields, []),
        ...checkNote(note),
      ]);
      const changes = "violations" in sent ? [] : sent.changes;
      const caller = { accountId: callerOf(context).accountId, signal: context.signal };
      const spliced =
        changes.length > 0
          ? await splicedSegments(read, caller, { id, name, versionId, changes })
          : undefined;
      const segments = spliced?.segments;
      return await changeWithoutSegments(parts, context, name, (head) => {
        const patch = { fields, segments: changes.length > 0 };
        const merging = mergeIntoHead(head, metadata, patch);
        const isSame = equals(TranscriptMetadataSchema, merging.metadata, head.metadata);
        if (!segments && isSame && !merging.declaresFileType) return undefined;
        return {
          ...merging,
          segments: segments ?? { sha256: head.segmentsSha256 },
          kind: merged ? "MERGED" : "EDITED",
          note,
          corrections: spliced?.corrections ?? [],
        };
      });
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

function* checkSent(
  { metadata }: ModifySegmentsRequest,
  changes: readonly CheckedChange[],
  fieldCount: number,
): Generator<FieldViolation> {
  if (changes.length > 0 || fieldCount > 0) return;
  const description = metadata
    ? "are required, or a field of metadata that callers can set"
    : "or metadata is required";
  yield { field: "changes", description };
}

/**
 * Returns the segments of the current version with the changes, or undefined if they are the same.
 * The work is done before the transcript is locked, since the segments of a version never change.
 */
async function splicedSegments(
  read: ReadTranscript,
  caller: Parameters<ReadTranscript>[0],
  {
    id,
    name,
    versionId,
    changes,
  }: {
    readonly id: string;
    readonly name: string;
    readonly versionId: string;
    readonly changes: readonly CheckedChange[];
  },
): Promise<
  | (Pick<VersionContent, "segments"> & { readonly corrections: readonly CheckedPhrase[] })
  | undefined
> {
  const stored = await read(caller, id, { heldPerByte: 2 });
  if (!stored) throw transcriptNotFound(name);
  if (stored.version.id !== versionId) throw staleVersion(stored.version.id);
  const { jsonZstd: packedZstd, jsonBytes } = stored.segments;
  const spliced = await runInWorkerThread(
    spliceSegments,
    {
      segments: { jsonZstd: packedZstd, jsonBytes },
      changes,
      languageCode: stored.metadata.languageCode,
    },
    { ...caller, bytes: jsonBytes, use: "answers" },
  );
  if ("violations" in spliced) throwViolations(spliced.violations);
  if (!("corrections" in spliced)) return undefined;
  const { packed, corrections } = spliced;
  // Buffers arrive from a thread as plain arrays.
  const [sha256, jsonZstd] = [Buffer.from(packed.sha256), Buffer.from(packed.jsonZstd)];
  return { segments: { ...packed, sha256, jsonZstd }, corrections };
}
