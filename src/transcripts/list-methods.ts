import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  ListTranscriptsResponseSchema,
  TranscriptSchema,
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
import { transcriptMessage } from "./transcript-message.ts";
import { defaultOrder, readOrdering } from "./transcript-order.ts";
import { metadataOf } from "./metadata-text.ts";

/** The method of §4.3. */
export function listMethods({
  db,
  urls,
  pageTokens,
  searchLimits,
}: {
  readonly db: Kysely<Tables>;
  readonly urls: SignedUrls;
  readonly pageTokens: PageTokens;
  readonly searchLimits: SearchLimitsOf;
}) {
  return {
    async listTranscripts(request, context) {
      const { accountId } = callerOf(context);
      const order = readOrdering(request.ordering);
      const { name: ordering } = "key" in order ? order : defaultOrder;
      const scope = { collection: "transcripts", accountId, filter: request.filter, ordering };
      const filter = request.filter === "" ? [] : parseFilter(request.filter);
      const page = readPageRequest(pageTokens, scope, request);
      if (!("key" in order) || "field" in filter || "length" in page) {
        throw invalidArgument([
          ...("length" in page ? page : []),
          ...("field" in filter ? [filter] : []),
          ...("key" in order ? [] : order),
        ]);
      }
      const list = { accountId, order };
      const { items, next } =
        filter.length > 0
          ? await findTranscripts(
              db,
              { ...list, filter },
              page,
              searchLimits(accountId, context.signal),
            )
          : await listTranscripts(db, list, page);
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
