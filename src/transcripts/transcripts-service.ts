import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type Transaction } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  TranscriptMetadata_DataSource as DataSource,
  TranscriptMetadataSchema,
  type Transcript,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { deleteBytes, mediaPath, releaseMedia } from "../media/media-records.ts";
import type { MediaStore } from "../media/media-store.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { Uploads } from "../media/uploads.ts";
import { isId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { checkTranscript, throwViolations } from "./check-transcript.ts";
import { parseFilter } from "./filter.ts";
import { checkIfMatch } from "./if-match.ts";
import { callerFields, mergeMetadata, readPatch } from "./merge.ts";
import { readPageRequest } from "./page-request.ts";
import type { PageTokens } from "./page-token.ts";
import {
  transcriptIdIn,
  transcriptNotFound,
  versionIdsIn,
  versionNotFound,
} from "./resource-names.ts";
import { packSegments, unpackSegments } from "./segments.ts";
import { listTranscripts, listVersions } from "./transcript-lists.ts";
import { transcriptMessage, versionMessage } from "./transcript-message.ts";
import {
  appendVersion,
  deleteTranscriptRow,
  findTranscript,
  findVersion,
  insertTranscript,
  lockTranscript,
  type StoredTranscript,
  type TranscriptHead,
  type VersionContent,
} from "./transcript-store.ts";

export interface TranscriptsParts {
  readonly db: Kysely<Tables>;
  readonly store: MediaStore;
  readonly urls: SignedUrls;
  readonly uploads: Uploads;
  readonly pageTokens: PageTokens;
  readonly log: Log;
  readonly now?: () => number;
  /** A filtered list that takes longer is refused. Default 5 s. */
  readonly filterMsMax?: number;
}

/** Sections 4.3 to 4.7 and the versions of section 9: every method of Transcripts that is not about jobs. */
export type TranscriptsService = Pick<
  ServiceImpl<typeof Transcripts>,
  | "listTranscripts"
  | "getTranscript"
  | "createTranscript"
  | "updateTranscript"
  | "deleteTranscript"
  | "listTranscriptVersions"
  | "getTranscriptVersion"
  | "restoreTranscript"
  | "initUpload"
>;

export function createTranscriptsService(parts: TranscriptsParts): TranscriptsService {
  return { ...readingMethods(parts), ...writingMethods(parts), ...versionMethods(parts) };
}

function readingMethods(parts: TranscriptsParts) {
  const { db, pageTokens, filterMsMax = 5_000 } = parts;
  return {
    async listTranscripts(request, context) {
      const { accountId } = callerOf(context);
      const scope = { collection: "transcripts", accountId, filter: request.filter };
      const filter = request.filter === "" ? undefined : parseFilter(request.filter);
      const page = readPageRequest(pageTokens, scope, request);
      const violations = Array.isArray(page) ? page : [];
      if (filter && "field" in filter) throw invalidArgument([...violations, filter]);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { items, next } = filter
        ? await readWithin(filterMsMax, db, async (trx) =>
            listTranscripts(trx, accountId, filter, page),
          )
        : await listTranscripts(db, accountId, undefined, page);
      return {
        transcripts: items.map((item) => transcriptMessage(item, uriOf(parts, item), [])),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async getTranscript({ name }, context) {
      const { accountId } = callerOf(context);
      const stored = await findTranscript(db, accountId, transcriptIdIn(name));
      if (!stored) throw transcriptNotFound(name);
      return await answerOf(parts, stored);
    },
  } satisfies Partial<TranscriptsService>;
}

function writingMethods(parts: TranscriptsParts) {
  const { db, uploads, now = Date.now } = parts;
  return {
    async createTranscript({ transcript }, context) {
      const { accountId } = callerOf(context);
      const empty = create(TranscriptMetadataSchema);
      const metadata = mergeMetadata(empty, transcript?.metadata, callerFields);
      const segments = transcript?.segments ?? [];
      throwViolations(checkTranscript(metadata, callerFields, segments));
      metadata.dataSource = DataSource.USER;
      const created = { accountId, metadata, segments, now: new Date(now()) };
      const { id } = await db
        .transaction()
        .execute(async (trx) => await insertTranscript(trx, created));
      return { name: `transcripts/${id}` };
    },

    async updateTranscript(request, context) {
      const { name = "", metadata, segments = [] } = request.transcript ?? {};
      transcriptIdIn(name);
      const patch = readPatch(request);
      if (Array.isArray(patch)) throw invalidArgument(patch);
      const sent = metadata ?? create(TranscriptMetadataSchema);
      throwViolations(checkTranscript(sent, patch.fields, patch.segments ? segments : []));
      const packed = patch.segments ? await packSegments(segments) : undefined;
      return await change(parts, context, name, (head) => ({
        metadata: mergeMetadata(head.metadata, sent, patch.fields),
        segments: packed ?? { sha256: head.segmentsSha256 },
      }));
    },

    async deleteTranscript({ name }, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(name);
      const mediaId = await db.transaction().execute(async (trx) => {
        const deleted = await deleteTranscriptRow(trx, accountId, id);
        if (!deleted) throw transcriptNotFound(name);
        if (deleted.mediaId === null) return null;
        return (await releaseMedia(trx, deleted.mediaId)) ? deleted.mediaId : null;
      });
      if (mediaId !== null) await deleteBytes(parts, mediaId);
      return {};
    },

    async initUpload({ resourceName }, context) {
      const { accountId } = callerOf(context);
      if (resourceName !== "" && !resourceName.startsWith("transcripts/")) {
        const description = "transcripts/<transcript_id> is expected, or none for a new upload";
        throw invalidArgument([{ field: "resourceName", description }]);
      }
      const transcriptId = resourceName === "" ? null : transcriptIdIn(resourceName);
      const begun = await uploads.begin(accountId, transcriptId);
      if (!begun) throw transcriptNotFound(resourceName);
      return {
        storageSignedUrl: begun.url,
        resourceName: resourceName === "" ? `uploads/${begun.id}` : resourceName,
      };
    },
  } satisfies Partial<TranscriptsService>;
}

function versionMethods(parts: TranscriptsParts) {
  const { db, pageTokens } = parts;
  return {
    async listTranscriptVersions(request, context) {
      const { accountId } = callerOf(context);
      const id = transcriptIdIn(request.parent);
      const scope = { collection: `${request.parent}/versions`, accountId, filter: "" };
      const page = readPageRequest(pageTokens, scope, request);
      if (Array.isArray(page)) throw invalidArgument(page);
      const { items, next } = await listVersions(db, accountId, id, page);
      // Every transcript has a version: none on the first page is no transcript.
      if (items.length === 0 && !page.after) throw transcriptNotFound(request.parent);
      return {
        versions: items.map(versionMessage),
        nextPageToken: next ? pageTokens.write(scope, next) : "",
      };
    },

    async getTranscriptVersion({ name }, context) {
      const { accountId } = callerOf(context);
      const { transcriptId, versionId } = versionIdsIn(name);
      const stored = await findTranscript(db, accountId, transcriptId, versionId);
      if (!stored) throw versionNotFound(name);
      return await answerOf(parts, stored);
    },

    async restoreTranscript({ name, version }, context) {
      return await change(parts, context, name, async (head, trx) => {
        const earlier = isId(version) ? await findVersion(trx, head.id, version) : undefined;
        if (!earlier) throw versionNotFound(`${name}/versions/${version}`);
        return {
          metadata: mergeMetadata(head.metadata, earlier.metadata, callerFields),
          segments: { sha256: earlier.segmentsSha256 },
        };
      });
    },
  } satisfies Partial<TranscriptsService>;
}

/** Puts a version on top of the head that If-Match names; changes of one transcript go through one after the other. */
async function change(
  parts: TranscriptsParts,
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
    await appendVersion(trx, head, await contentOf(head, trx), new Date(now()));
    return await findTranscript(trx, accountId, id);
  });
  if (!stored) throw transcriptNotFound(name);
  return await answerOf(parts, stored);
}

async function answerOf(parts: TranscriptsParts, stored: StoredTranscript): Promise<Transcript> {
  return transcriptMessage(stored, uriOf(parts, stored), await unpackSegments(stored.segments));
}

function uriOf({ urls }: TranscriptsParts, { mediaId }: Pick<StoredTranscript, "mediaId">): string {
  return mediaId === null ? "" : urls.sign({ method: "GET", path: mediaPath(mediaId) });
}

/** Reads with a time limit: a text of one or two letters has no index to help it. */
async function readWithin<T>(
  msMax: number,
  db: Kysely<Tables>,
  read: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await db.transaction().execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${`${msMax}`}, true)`.execute(trx);
      return await read(trx);
    });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === queryCanceled)) throw error;
    throw new ServiceError("invalid_argument", filterTooSlow.description, {
      reason: "FILTER_TOO_SLOW",
      violations: [filterTooSlow],
      cause: error,
    });
  }
}

const queryCanceled = "57014";
const filterTooSlow = {
  field: "filter",
  description: "takes too long on this many transcripts: use a text of three letters or more",
};
