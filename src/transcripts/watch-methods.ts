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
import { transcriptIdIn } from "./resource-names.ts";
import { findListed, type ListedTranscript } from "./transcript-lists.ts";
import type { TranscriptWatchers } from "./transcript-watchers.ts";

/** A transcript before it is read to be sent, with what filters compare. */
type FoundTranscript = FoundResource & Filterable;

/**
 * The methods that watch a transcript, and a list of them: the page that is asked for, and then
 * changes.
 */
export function watchMethods(
  parts: ListParts & {
    readonly watches: NodeWatches;
    readonly transcriptWatchers: TranscriptWatchers;
  },
) {
  const { db, urls, watches, transcriptWatchers } = parts;
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
    const bytes = items.reduce((sum, { metadataJson, version }) => {
      return sum + metadataJson.length + version.note.length + 1_000;
    }, 0);
    const message = (): Promise<WatchTranscriptsResponse> =>
      Promise.resolve(
        create(WatchTranscriptsResponseSchema, { transcripts: messages(items), nextPageToken }),
      );
    yield { bytes, message };
  }

  return {
    async *watchTranscript({ name }, context) {
      const { accountId } = callerOf(context);
      yield* transcriptWatchers.watch(accountId, transcriptIdIn(name), context.signal);
    },

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
  const { rows } = await sql<FoundTranscript & NonNullable<FoundTranscript["transcript"]>>`
    select t.id, t.account_id as "accountId", t.subject, t.keywords,
      coalesce(t.metadata ->> 'languageCode', '') as language,
      jsonb_path_query_array(t.metadata, '$.speakers.*.fullName') as speakers,
      t.listed_ms as "durationMs", t.updated_at as "changedAt",
      octet_length(t.metadata::text) + coalesce(octet_length(v.note), 0) as bytes
    from transcript t left join transcript_version v on v.id = t.version_id
    where t.id = any(${[...ids]}::uuid[]) and t.account_id is not null
  `.execute(db);
  return rows.map(({ language, speakers, durationMs, changedAt, ...row }) => ({
    ...row,
    transcript: { language, speakers, durationMs, changedAt },
  }));
}
