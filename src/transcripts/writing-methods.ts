import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadataSchema,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { deleteBytes, releaseMedia } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { Log } from "../std/log.ts";
import { invalidArgument } from "../std/service-error.ts";
import { changeTranscript } from "./change-transcript.ts";
import { checkMetadataSize } from "./check-metadata.ts";
import { checkNote, checkTranscript } from "./check-transcript.ts";
import { throwViolations } from "./check-values.ts";
import { callerFields, mergeMetadata, readPatch } from "./merge.ts";
import { mergeIntoHead } from "./merge-into-head.ts";
import { transcriptIdIn, transcriptNotFound } from "./resource-names.ts";
import { wholeCorrections } from "./whole-corrections.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import { sentSegments } from "./sent-segments.ts";
import { insertTranscript } from "./insert-transcript.ts";
import { deleteTranscriptRow } from "./transcript-changes.ts";

/** The methods of §4.5 and §4.6, and the deletion of transcripts. */
export function writingMethods(parts: {
  readonly db: Kysely<Tables>;
  readonly store: Pick<MediaStore, "delete" | "keepsAll">;
  readonly urls: SignedUrls;
  readonly read: ReadTranscript;
  readonly log: Log;
  readonly now?: () => number;
}) {
  const { db, now = Date.now } = parts;
  return {
    async createTranscript({ transcript }, context) {
      const { accountId, actor: author } = callerOf(context);
      const sent = sentSegments(transcript);
      const empty = create(TranscriptMetadataSchema);
      const metadata = mergeMetadata(empty, transcript?.metadata, callerFields);
      throwViolations([
        ...checkTranscript(metadata, callerFields, []),
        ...checkMetadataSize(metadata),
        ...sent.violations,
      ]);
      metadata.dataSource = DataSource.USER;
      const segments = await sent.pack();
      const kind = "IMPORTED";
      const created = {
        accountId,
        metadata,
        segments,
        kind,
        author,
        now: new Date(now()),
      } as const;
      const { id } = await db
        .transaction()
        .execute(async (trx) => await insertTranscript(trx, created));
      return { name: `transcripts/${id}` };
    },

    async updateTranscript(request, context) {
      const segments = sentSegments(request.transcript);
      const { name = "", metadata = create(TranscriptMetadataSchema) } = request.transcript ?? {};
      transcriptIdIn(name);
      const patch = readPatch(request, { hasSegments: !segments.isEmpty });
      if (Array.isArray(patch)) throw invalidArgument(patch);
      const ofSegments = patch.segments ? segments.violations : [];
      throwViolations([
        ...checkTranscript(metadata, patch.fields, []),
        ...ofSegments,
        ...checkNote(request.note),
      ]);
      const packed = patch.segments ? await segments.pack() : undefined;
      const caller = { accountId: callerOf(context).accountId, signal: context.signal };
      const found = packed && (await wholeCorrections(parts, caller, name, packed));
      return await changeTranscript(parts, context, name, (head) => ({
        ...mergeIntoHead(head, metadata, patch),
        segments: packed ?? { sha256: head.segmentsSha256 },
        kind: request.merged ? "MERGED" : "EDITED",
        note: request.note,
        // They are of another version if the transcript has changed in the meantime.
        corrections: found?.versionId === head.versionId ? found.corrections : [],
      }));
    },

    async deleteTranscript({ name }, context) {
      const caller = callerOf(context);
      const id = transcriptIdIn(name);
      const mediaId = await audited(parts, caller, async (trx, record) => {
        const deleted = await deleteTranscriptRow(trx, caller.accountId, id);
        if (!deleted) throw transcriptNotFound(name);
        await record({ action: "transcript.delete", resource: name });
        if (deleted.mediaId === null) return null;
        return (await releaseMedia(trx, deleted.mediaId)) ? deleted.mediaId : null;
      });
      if (mediaId !== null) await deleteBytes(parts, [mediaId], "transcript_deleted");
      return {};
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
