import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely } from "kysely";
import { callerOf } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import {
  WatchTranscriptsResponseSchema,
  type Transcripts,
  type WatchTranscriptsResponse,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { ListWatcher } from "../watches/list-watcher.ts";
import { ListWatchers, type FirstPart, type FoundResource } from "../watches/list-watchers.ts";
import type { NodeWatches } from "../watches/node-watches.ts";
import { linksOf } from "./answer-transcript.ts";
import {
  checkList,
  listedMessage,
  readList,
  type CheckedList,
  type ListParts,
} from "./list-methods.ts";
import { matcherOf, type Filterable } from "./matches-filter.ts";
import { findListed, type ListedTranscript } from "./transcript-lists.ts";

/** A transcript before it is read to be sent, with what filters compare. */
type FoundTranscript = FoundResource & Filterable;

/** The method that watches a list of transcripts: the page that is asked for, and then changes. */
export function watchMethods(parts: ListParts & { readonly watches: NodeWatches }) {
  const { db, urls, watches } = parts;
  const messages = (items: readonly ListedTranscript[]) =>
    items.map((item) => listedMessage(item, linksOf({ urls }, item)));
  const watchers = new ListWatchers<FoundTranscript, WatchTranscriptsResponse>(watches, {
    kind: "transcript",
    namesRemoved: true,
    find: async (ids) => await findSized(db, ids),
    async read(accountId, ids, removed) {
      const items = ids.length === 0 ? [] : await findListed(db, accountId, ids);
      return create(WatchTranscriptsResponseSchema, {
        update: true,
        transcripts: messages(items),
        removed: removed.map((id) => `transcripts/${id}`),
      });
    },
  });

  async function* first(
    { signal }: ListWatcher<WatchTranscriptsResponse>,
    list: CheckedList,
  ): AsyncGenerator<FirstPart<WatchTranscriptsResponse>, void> {
    const { items, nextPageToken } = await readList(parts, list, signal);
    const bytes = items.reduce((sum, { metadataJson }) => sum + metadataJson.length + 1_000, 0);
    const message = (): Promise<WatchTranscriptsResponse> =>
      Promise.resolve(
        create(WatchTranscriptsResponseSchema, { transcripts: messages(items), nextPageToken }),
      );
    yield { bytes, message };
  }

  return {
    async *watchTranscripts(request, context) {
      const { accountId } = callerOf(context);
      const list = checkList(parts, accountId, request);
      const filter = { text: request.filter, matches: matcherOf(list.filter) };
      const call = { accountId, filter, signal: context.signal };
      yield* watchers.watch(call, (watcher) => first(watcher, list));
    },
  } satisfies Partial<ServiceImpl<typeof Transcripts>>;
}

async function findSized(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly FoundTranscript[]> {
  const { rows } = await sql<FoundTranscript>`
    select id, account_id as "accountId", octet_length(metadata::text) as bytes, subject, keywords
    from transcript where id = any(${[...ids]}::uuid[])
  `.execute(db);
  return rows;
}
