import { create } from "@bufbuild/protobuf";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ListTranscriptsResponseSchema,
  TranscriptSchema,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument, ServiceError } from "../std/service-error.ts";
import { attachRawList } from "../std/raw-field.ts";
import { linksOf } from "./answer-transcript.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import { parseFilter } from "./filter.ts";
import { findTranscripts, type SearchLimits } from "./find-transcripts.ts";
import { listedJson } from "./listed-json.ts";
import { readPageRequest } from "../std/page-request.ts";
import { listTranscripts, type ListedTranscript } from "./transcript-lists.ts";
import { transcriptMessage } from "./transcript-message.ts";
import { metadataOf } from "./metadata-text.ts";

interface SearchParts {
  readonly db: Kysely<Tables>;
  /** The time limit of a filtered list. Default 5 s. */
  readonly filterMsMax?: number;
  readonly now?: () => number;
}

/** The method of §4.3. */
export function listMethods(
  parts: SearchParts & { readonly urls: SignedUrls; readonly pageTokens: PageTokens },
) {
  const { db, urls, pageTokens } = parts;
  const limitsFor = createSearchLimits(parts);
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
        ? await findTranscripts(db, { accountId, filter }, page, limitsFor(accountId, context))
        : await listTranscripts(db, accountId, page);
      const nextPageToken = next ? pageTokens.write(scope, next) : "";
      const answer = create(ListTranscriptsResponseSchema, { nextPageToken });
      const links = (item: ListedTranscript) => linksOf({ urls }, item);
      attachRawList(answer, ListTranscriptsResponseSchema.field.transcripts, items, {
        schema: TranscriptSchema,
        json: (item) => listedJson(item, links(item)),
        message: (item) => {
          const metadata = metadataOf(item.metadataJson);
          return transcriptMessage({ ...item, metadata }, links(item), []);
        },
      });
      return answer;
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/**
 * Searches use at most 8 of the 20 connections of a node. An indexed search uses one for 5 to 200
 * ms. A wide search, which takes seconds in an account of a million transcripts, uses one for each
 * of its short statements.
 */
const busyReason = "SEARCHES_BUSY";
const indexedLimits = {
  running: 6,
  runningOfOne: 3,
  waitingOfOne: 10,
  waitMsMax: 5_000,
  busyReason,
};
const wideLimits = { running: 2, runningOfOne: 1, waitingOfOne: 4, waitMsMax: 5_000, busyReason };

/**
 * Creates the limits for the searches of this node. The time limit of a search starts when the
 * search starts.
 */
function createSearchLimits({ db, filterMsMax = 5_000, now = Date.now }: SearchParts) {
  const indexed = new FairSemaphore(indexedLimits);
  const wide = new FairSemaphore(wideLimits);
  return (accountId: string, { signal }: HandlerContext): SearchLimits => ({
    indexed: async (search) =>
      await indexed.run(accountId, signal, async () => {
        try {
          return await db.transaction().execute(async (trx) => {
            await sql`select set_config('statement_timeout', ${`${filterMsMax}`}, true)`.execute(
              trx,
            );
            return await search(trx);
          });
        } catch (error) {
          if (isQueryCanceled(error)) throw tooSlow("use a longer text, or more keywords", error);
          throw error;
        }
      }),
    wide: async (search) =>
      await wide.run(accountId, signal, async () => {
        const end = now() + filterMsMax;
        return await search(() => {
          signal.throwIfAborted();
          if (now() >= end) throw tooSlow("use a text of three letters or more");
        });
      }),
  });
}

function isQueryCanceled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "57014";
}

function tooSlow(advice: string, cause?: unknown): ServiceError {
  const description = `takes too long on this many transcripts: ${advice}`;
  return new ServiceError("invalid_argument", `filter: ${description}`, {
    reason: "FILTER_TOO_SLOW",
    violations: [{ field: "filter", description }],
    cause,
  });
}
