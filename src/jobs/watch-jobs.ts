import { create } from "@bufbuild/protobuf";
import { sql, type Kysely } from "kysely";
import { exactTime } from "../database/exact-time.ts";
import type { Tables } from "../database/tables.ts";
import {
  WatchTranscriptJobsResponseSchema,
  type WatchTranscriptJobsResponse,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { FairSemaphore } from "../std/fair-semaphore.ts";
import type { ListPosition } from "../std/page-request.ts";
import { invalidArgument } from "../std/service-error.ts";
import { parseFilter } from "../transcripts/filter.ts";
import { matcherOf, type Filterable } from "../transcripts/matches-filter.ts";
import { divided, ListPart, partItemsMax, type Sized } from "../watches/list-part.ts";
import type { ListWatcher } from "../watches/list-watcher.ts";
import { ListWatchers, type FoundResource, type WatchFilter } from "../watches/list-watchers.ts";
import type { NodeWatches } from "../watches/node-watches.ts";
import { jobMessage } from "./job-message.ts";
import { findJobs } from "./job-store.ts";
import { QueuePlaces } from "./queue-places.ts";

/** The number of jobs that one statement of a filtered first list finds. */
const scannedRows = 500;

/**
 * The first lists that are read concurrently: a thousand watches may begin at the same moment, and
 * each account has its turn.
 */
const firstLists = {
  running: 6,
  runningOfOne: 3,
  waitingOfOne: 1_000,
  waitMsMax: 60_000,
  busyReason: "WATCHES_FULL",
};

/** A job before it is read to be sent, with what filters compare. */
type FoundJob = FoundResource & Filterable;

export type WatchJobs = (
  accountId: string,
  filter: string,
  signal: AbortSignal,
  /** `updatesOnly`: the jobs that exist already are not sent. Default: false. */
  options?: { readonly updatesOnly: boolean },
) => AsyncGenerator<WatchTranscriptJobsResponse, void, undefined>;

/** Creates the method that watches the jobs of an account: all of them first, then changes. */
export function createWatchJobs(
  db: Kysely<Tables>,
  node: NodeWatches,
  places = new QueuePlaces(db),
): WatchJobs {
  const turns = new FairSemaphore(firstLists);
  const read = async (ids: readonly string[], answer: { update: boolean; more: boolean }) => {
    const jobs = ids.length === 0 ? [] : await findJobs(db, ids);
    const found = jobs.filter((job) => job !== undefined);
    const before = await places.of(found);
    const messages = found.map((job) => jobMessage(job, before.get(job.id)));
    return create(WatchTranscriptJobsResponseSchema, { ...answer, jobs: messages });
  };
  const watchers = new ListWatchers<FoundJob, WatchTranscriptJobsResponse>(node, {
    kind: "job",
    namesRemoved: false,
    find: async (ids) => await findSized(db, sql`id = any(${[...ids]}::uuid[])`),
    read: async (_accountId, ids) => await read(ids, { update: true, more: false }),
  });
  const part = (found: readonly Sized[], more: boolean) =>
    new ListPart(found, [], (ids) => read(ids, { update: false, more }));

  async function* first(
    watcher: ListWatcher<WatchTranscriptJobsResponse>,
    filter: WatchFilter<FoundJob>,
  ) {
    const { accountId, signal } = watcher;
    const rowsMax = filter.text === "" ? partItemsMax : scannedRows;
    const page = async (after: ListPosition | undefined) =>
      await turns.run(accountId, signal, () => pageOf(db, accountId, after, rowsMax));
    for (let after: ListPosition | undefined; ;) {
      const { found, next } = await watcher.read(() => page(after));
      const matching = found.filter((each) => filter.matches(each));
      const parts = [...divided(matching.map(({ id, bytes }) => ({ id, bytes })))];
      for (const [at, sized] of parts.entries()) {
        yield part(sized, next !== undefined || at < parts.length - 1);
      }
      if (!next && parts.length === 0) yield part([], false);
      if (!next) return;
      after = next;
    }
  }

  async function* nothing() {
    yield new ListPart([], [], () => read([], { update: true, more: false }));
  }

  return async function* watchJobs(accountId, text, signal, options) {
    const filter = filterOf(text);
    yield* watchers.watch({ accountId, filter, signal }, (watcher) =>
      options?.updatesOnly ? nothing() : first(watcher, filter),
    );
  };
}

function filterOf(text: string): WatchFilter<FoundJob> {
  const filter = text === "" ? [] : parseFilter(text);
  if ("field" in filter) throw invalidArgument([filter]);
  return { text, matches: matcherOf(filter) };
}

/** Finds the next jobs of an account, newest first. `next` is undefined at the end. */
async function pageOf(
  db: Kysely<Tables>,
  accountId: string,
  after: ListPosition | undefined,
  rowsMax: number,
): Promise<{ found: readonly FoundJob[]; next: ListPosition | undefined }> {
  const behind = after
    ? sql`and (started_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`
    : sql``;
  const rows = await findSized(
    db,
    sql`account_id = ${accountId} ${behind} order by started_at desc, id desc limit ${rowsMax + 1}`,
  );
  const found = rows.slice(0, rowsMax);
  const last = found.at(-1);
  return { found, next: last && rows.length > rowsMax ? [last.position, last.id] : undefined };
}

/** Finds jobs by the rest of a statement. */
async function findSized(
  db: Kysely<Tables>,
  where: ReturnType<typeof sql>,
): Promise<(FoundJob & { readonly position: string })[]> {
  const { rows } = await sql<FoundJob & { readonly position: string }>`
    select id, account_id as "accountId", ${exactTime("started_at")} as position,
      octet_length(metadata::text) + coalesce(octet_length(error::text), 0) as bytes,
      subject, keywords
    from transcript_job where ${where}
  `.execute(db);
  return rows;
}
