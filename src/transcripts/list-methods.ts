import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ListTranscriptsResponseSchema,
  TranscriptSchema,
  type ListTranscriptsRequest,
  type Transcript,
  type Transcripts,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { SignedUrls } from "../media/signed-url.ts";
import type { PageTokens } from "../std/page-token.ts";
import { invalidArgument } from "../std/service-error.ts";
import { attachRawList } from "../std/raw-field.ts";
import { linksOf } from "./answer-transcript.ts";
import { parseFilter } from "./filter.ts";
import { listedJson } from "./listed-json.ts";
import { readPageRequest } from "../std/page-request.ts";
import type { SearchLimitsOf } from "./search-limits.ts";
import { findTranscripts, listTranscripts, type ListedTranscript } from "./transcript-lists.ts";
import { transcriptMessage, type MediaLinks } from "./transcript-message.ts";
import { defaultOrder, readOrdering } from "./transcript-order.ts";
import { metadataOf } from "./metadata-text.ts";

export interface ListParts {
  readonly db: Kysely<Tables>;
  readonly urls: SignedUrls;
  readonly pageTokens: PageTokens;
  readonly searchLimits: SearchLimitsOf;
}

type ListRequest = Pick<ListTranscriptsRequest, "filter" | "pageSize" | "pageToken" | "ordering">;

/** A page of a list of an account, as a checked request asks for it. */
export type CheckedList = ReturnType<typeof checkList>;

/** Checks the request of a list. Throws invalid_argument with every violation. */
export function checkList(
  { pageTokens }: Pick<ListParts, "pageTokens">,
  accountId: string,
  request: ListRequest,
) {
  const order = readOrdering(request.ordering);
  const { name: ordering } = "key" in order ? order : defaultOrder;
  const scope = { collection: "transcripts", accountId, filter: request.filter, ordering };
  const filter = request.filter === "" ? [] : parseFilter(request.filter, { ofTranscripts: true });
  const page = readPageRequest(pageTokens, scope, request);
  if ("key" in order && !("field" in filter) && !("length" in page)) {
    return { accountId, order, filter, page, scope };
  }
  throw invalidArgument([
    ...("length" in page ? page : []),
    ...("field" in filter ? [filter] : []),
    ...("key" in order ? [] : order),
  ]);
}

/** Reads a page of a list, with the token of the next page; "" on the last page. */
export async function readList(
  { db, pageTokens, searchLimits }: Omit<ListParts, "urls">,
  { accountId, order, filter, page, scope }: CheckedList,
  signal: AbortSignal,
): Promise<{ readonly items: readonly ListedTranscript[]; readonly nextPageToken: string }> {
  const list = { accountId, order };
  const { items, next } =
    filter.length > 0
      ? await findTranscripts(db, { ...list, filter }, page, searchLimits(accountId, signal))
      : await listTranscripts(db, list, page);
  return { items, nextPageToken: next ? pageTokens.write(scope, next) : "" };
}

/** The method of §4.3. */
export function listMethods(parts: ListParts) {
  const { urls } = parts;
  return {
    async listTranscripts(request, context) {
      const list = checkList(parts, callerOf(context).accountId, request);
      const { items, nextPageToken } = await readList(parts, list, context.signal);
      const answer = create(ListTranscriptsResponseSchema, { nextPageToken });
      const links = (item: ListedTranscript) => linksOf({ urls }, item);
      attachRawList(answer, ListTranscriptsResponseSchema.field.transcripts, items, {
        schema: TranscriptSchema,
        json: (item) => listedJson(item, links(item)),
        message: (item) => listedMessage(item, links(item)),
      });
      return answer;
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

/** Returns the message of a transcript in a list, without its segments. */
export function listedMessage(item: ListedTranscript, links: MediaLinks): Transcript {
  return transcriptMessage({ ...item, metadata: metadataOf(item.metadataJson) }, links, []);
}
