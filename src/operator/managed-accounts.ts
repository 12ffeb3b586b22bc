import { create } from "@bufbuild/protobuf";
import { sql, type Kysely } from "kysely";
import { limitsFrom, type AccountLimits } from "../auth/limits.ts";
import { exactTime } from "../database/exact-time.ts";
import { openIn } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { ManagedAccountSchema, type ManagedAccount } from "../gen/hlust/operator/v1/operator_pb.ts";
import { timestampFromDate, wholeSecondsOfMs } from "../std/duration.ts";
import type { ListPosition } from "../std/page-request.ts";

/** An account as operators see it. */
export interface ManagedAccountRow {
  readonly id: string;
  /** The time of creation, exact, for page tokens. */
  readonly position: string;
  readonly display_name: string;
  readonly created_at: Date;
  readonly disabled_at: Date | null;
  readonly limits: Readonly<Record<string, number>>;
  readonly members: number;
  readonly keys: number;
  readonly jobs: number;
  readonly bytes: string;
  readonly requests: number;
  readonly streams: number;
  readonly audio_ms: number;
}

/**
 * Reads accounts, oldest first, with their use as the nodes have shared it: after a position, or
 * the one with an id.
 */
export async function readManagedAccounts(
  db: Kysely<Tables>,
  wanted: {
    readonly after?: ListPosition | undefined;
    readonly id?: string;
    readonly limit: number;
  },
): Promise<ManagedAccountRow[]> {
  const { after, id, limit } = wanted;
  const isWanted =
    id !== undefined
      ? sql`id = ${id}`
      : after
        ? sql`(created_at, id) > (${after[0]}::timestamptz, ${after[1]}::uuid)`
        : sql`true`;
  const { rows } = await sql<ManagedAccountRow>`
    with listed as (
      select * from account where ${isWanted} order by created_at, id limit ${limit})
    select a.id, ${exactTime("a.created_at")} as position, a.display_name, a.created_at,
      a.disabled_at, a.limits,
      (select count(*)::int from member where account_id = a.id) as members,
      (select count(*)::int from api_key where account_id = a.id)
        + (select count(*)::int from client_key where account_id = a.id) as keys,
      (select count(*)::int from transcript_job
        where account_id = a.id and ${openIn.transcript_job})
        + (select count(*)::int from transcript_job
        where account_id = a.id and state = 'WAITING_FOR_CONTENT')
        + (select count(*)::int from alignment_job
        where account_id = a.id and ${openIn.alignment_job}) as jobs,
      (select coalesce(sum(size_bytes), 0) from media where account_id = a.id)
        + (select coalesce(sum(size_bytes), 0) from transcript_draft
        where account_id = a.id) as bytes,
      coalesce((select case m.minute - floor(extract(epoch from now()) / 60)::bigint
          when 0 then m.requests + m.previous * (1 - extract(second from now()) / 60)
          when -1 then m.requests * (1 - extract(second from now()) / 60) else 0 end
        from usage_minute m where m.subject_id = a.id), 0)::float8 as requests,
      coalesce((select sum(s.streams) from usage_stream s join usage_node n on n.id = s.node_id
        where s.subject_id = a.id and n.leased_until > now()), 0)::int as streams,
      coalesce((select d.live_ms + d.short_ms + d.job_ms from usage_day d
        where d.subject_id = a.id and d.day = (now() at time zone 'utc')::date), 0)::float8
        as audio_ms
    from listed a order by a.created_at, a.id
  `.execute(db);
  return rows;
}

/** `settings`: the limits of accounts for which no operator has set limits. */
export function managedAccountMessage(
  row: ManagedAccountRow,
  settings: AccountLimits,
): ManagedAccount {
  const limits = limitsFrom(row.limits, settings);
  const { storedBytes, ...own } = row.limits;
  return create(ManagedAccountSchema, {
    name: `accounts/${row.id}`,
    displayName: row.display_name,
    creationTime: timestampFromDate(row.created_at),
    disabled: row.disabled_at !== null,
    ownLimits: { ...own, ...(storedBytes !== undefined && { storedBytes: BigInt(storedBytes) }) },
    limits: { ...limits, storedBytes: BigInt(limits.storedBytes) },
    usage: {
      requestsPerMinute: Math.ceil(row.requests),
      concurrentStreams: row.streams,
      queuedJobs: row.jobs,
      audioSecondsPerDay: wholeSecondsOfMs(row.audio_ms),
      storedBytes: BigInt(row.bytes),
    },
    members: row.members,
    keys: row.keys,
  });
}
