import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Transcripts } from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import { isId } from "../std/ids.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument } from "../std/service-error.ts";
import { answerOf } from "./answer-transcript.ts";
import { changeTranscript } from "./change-transcript.ts";
import { checkNote } from "./check-transcript.ts";
import { throwViolations } from "./check-values.ts";
import { diffVersions } from "./diff/diff-versions.ts";
import { callerFields, mergeMetadata } from "./merge.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { ReadTranscript } from "./read-transcript.ts";
import {
  transcriptIdIn,
  transcriptNotFound,
  versionIdsIn,
  versionNotFound,
} from "./resource-names.ts";
import { listVersions } from "./transcript-lists.ts";
import { versionMessage } from "./transcript-message.ts";
import { findVersion } from "./transcript-changes.ts";

/** The methods of the versions of a transcript (§9). */
export function versionMethods(
  read: ReadTranscript,
  parts: {
    readonly db: Kysely<Tables>;
    readonly urls: SignedUrls;
    readonly pageTokens: PageTokens;
    readonly now?: () => number;
  },
) {
  const { db, pageTokens } = parts;
  return {
    async listTranscriptVersions(request, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(request.parent);
      const scope = { collection: `${request.parent}/versions`, accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { items, next } = await listVersions(db, accountId, id, page);
      // Every transcript has a version: an empty first page means that there is no transcript.
      if (items.length === 0 && !page.after) throw transcriptNotFound(request.parent);
      return {
        versions: items.map(versionMessage),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async getTranscriptVersion({ name }, context) {
      const { accountId } = callerOf(context);
      const { transcriptId, versionId } = versionIdsIn(name);
      const reader = { accountId, signal: context.signal };
      const stored = await read(reader, transcriptId, { versionId });
      if (!stored) throw versionNotFound(name);
      return answerOf(parts, accountId, stored);
    },

    async restoreTranscript({ name, version, note }, context) {
      throwViolations(checkNote(note));
      return await changeTranscript(parts, context, name, async (head, trx) => {
        const earlier = isId(version) ? await findVersion(trx, head.id, version) : undefined;
        if (!earlier) throw versionNotFound(`${name}/versions/${version}`);
        return {
          metadata: mergeMetadata(head.metadata, earlier.metadata, callerFields),
          segments: { sha256: earlier.segmentsSha256 },
          kind: "RESTORED",
          note,
        };
      });
    },

    async diffTranscriptVersions({ name, against, skip }, context) {
      if (skip < 0) throw invalidArgument([{ field: "skip", description: "is negative" }]);
      const { accountId } = callerOf(context);
      const { transcriptId, versionId } = versionIdsIn(name);
      const reader = { accountId, signal: context.signal };
      const stored = await read(reader, transcriptId, { versionId });
      if (!stored) throw versionNotFound(name);
      const againstId = against === "" ? stored.version.parentId : against;
      const other =
        againstId !== null && isId(againstId)
          ? await read(reader, transcriptId, { versionId: againstId })
          : undefined;
      if (againstId !== null && !other) {
        throw versionNotFound(`transcripts/${transcriptId}/versions/${againstId}`);
      }
      return await diffVersions(other, stored, { skip, ...reader });
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}
