import { sql, type Kysely, type Transaction } from "kysely";
import type { Tables } from "../database/tables.ts";
import { limitsFrom, noLimits, type AccountLimits } from "./limits.ts";
import type { KnownUse, Unwritten } from "./usage-counter.ts";

/** How long the streams of a node are counted after its last write. */
const leaseSeconds = 10;

/**
 * The member to whom the use of a subject belongs: the subject itself, or the member who created
 * the key. It is stored with the use, so that the use of revoked keys keeps it.
 */
const memberOf = (
  isMember: string,
  subject: string,
) => sql`case when ${sql.ref(isMember)} then ${sql.ref(subject)}
  else (select substring(creator from '^members/(.*)$')::uuid from (
    select creator from api_key where id = ${sql.ref(subject)}
    union all select creator from client_key where id = ${sql.ref(subject)}) as key) end`;

/** Today (UTC) by the database's clock, which all nodes share. */
const today = sql`(now() at time zone 'utc')::date`;

/**
 * Adds the counts of a node, in one statement for all accounts, keys and members, and renews the
 * lease of its streams. A write with a `number` that is already stored changes nothing: it repeats
 * a write whose confirmation was lost.
 */
export async function writeUsage(
  db: Kysely<Tables>,
  { nodeId, number, rows }: UsageWrite,
): Promise<void> {
  const column = <T>(of: (row: Unwritten) => T): T[] => rows.map(of);
  // Rows are written in the order of their ids, as every writer of these tables does, to prevent
  // deadlocks.
  await sql`
    with node as (
      insert into usage_node (id, writes, leased_until)
      values (${nodeId}, ${number}, now() + make_interval(secs => ${leaseSeconds}))
      on conflict (id) do update set writes = excluded.writes, leased_until = excluded.leased_until
        where usage_node.writes < excluded.writes
      returning id),
    used as (
      select u.*, ${memberOf("u.is_member", "u.subject_id")} as member_id from node, unnest(
          ${column(({ id }) => id)}::uuid[], ${column(({ accountId }) => accountId)}::uuid[],
          ${column(({ requests }) => requests)}::int[], ${column(({ recent }) => recent)}::int[],
          ${column(({ liveMs }) => liveMs)}::bigint[], ${column(({ shortMs }) => shortMs)}::bigint[],
          ${column(({ streams }) => streams)}::int[],
          ${column(({ consoleRequests }) => consoleRequests)}::int[],
          ${column(({ isMember }) => isMember)}::boolean[])
        as u (subject_id, account_id, requests, recent, live_ms, short_ms, streams, console_requests, is_member)
      join account on account.id = u.account_id
      order by u.subject_id),
    minutes as (
      insert into usage_minute as m (subject_id, account_id, minute, requests, previous)
      select subject_id, account_id, floor(extract(epoch from now()) / 60)::bigint, recent, 0
      from used where recent > 0
      on conflict (subject_id) do update set
        minute = excluded.minute,
        previous = case m.minute when excluded.minute then m.previous when excluded.minute - 1 then m.requests else 0 end,
        requests = excluded.requests + case m.minute when excluded.minute then m.requests else 0 end),
    days as (
      insert into usage_day as d (subject_id, account_id, day, requests, live_ms, short_ms, console_requests, member_id)
      select subject_id, account_id, ${today}, requests, live_ms, short_ms, console_requests, member_id
      from used where requests <> 0 or live_ms <> 0 or short_ms <> 0
      on conflict (subject_id, day) do update set requests = d.requests + excluded.requests,
        live_ms = d.live_ms + excluded.live_ms, short_ms = d.short_ms + excluded.short_ms,
        console_requests = d.console_requests + excluded.console_requests,
        member_id = coalesce(d.member_id, excluded.member_id)),
    ended as (
      delete from usage_stream s using used
      where s.node_id = ${nodeId} and s.subject_id = used.subject_id and used.streams = 0)
    insert into usage_stream as s (subject_id, node_id, account_id, streams)
    select subject_id, ${nodeId}, account_id, streams from used where streams > 0
    on conflict (subject_id, node_id) do update set streams = excluded.streams
      where s.streams <> excluded.streams
  `.execute(db);
}

export interface UsageWrite {
  readonly nodeId: string;
  /** The sequence number of this node's writes. */
  readonly number: number;
  readonly rows: readonly Unwritten[];
}

/** An account, one of its keys, or a member. */
export interface Subject {
  readonly id: string;
  readonly accountId: string;
}

interface UsageRow {
  readonly id: string;
  readonly is_account: boolean;
  readonly limits: Readonly<Record<string, number>>;
  readonly is_this_minute: boolean;
  readonly requests: number;
  readonly previous: number;
  readonly audio_ms: number;
  readonly streams: number;
}

/**
 * Returns the stored use and limits of these accounts and keys, and the database's time (ms since
 * 1970). Deleted accounts and keys are left out.
 */
export async function readUsage(
  db: Kysely<Tables>,
  subjects: readonly Subject[],
  { nodeId, accountLimits }: { readonly nodeId: string; readonly accountLimits: AccountLimits },
): Promise<{ readonly now: number; readonly known: ReadonlyMap<string, KnownUse> }> {
  const { rows } = await sql<UsageRow & { readonly now: number }>`
    with clock as (select extract(epoch from now()) as seconds)
    select s.id, s.id = s.account_id as is_account,
      case s.id when s.account_id then account.limits else coalesce(api_key.limits, client_key.limits, '{}') end as limits,
      clock.seconds::float8 * 1000 as now, coalesce(m.minute = floor(clock.seconds / 60), false) as is_this_minute,
      coalesce(m.requests, 0) as requests, coalesce(m.previous, 0) as previous,
      coalesce(d.live_ms + d.short_ms + d.job_ms, 0)::float8 as audio_ms, coalesce(o.streams, 0)::int as streams
    from clock, unnest(${subjects.map(({ id }) => id)}::uuid[], ${subjects.map(({ accountId }) => accountId)}::uuid[])
      as s (id, account_id)
    join account on account.id = s.account_id
    left join api_key on api_key.id = s.id
    left join client_key on client_key.id = s.id
    left join usage_minute m on m.subject_id = s.id and m.minute >= floor(extract(epoch from now()) / 60) - 1
    left join usage_day d on d.subject_id = s.id and d.day = ${today}
    left join lateral (
      select sum(streams) as streams from usage_stream join usage_node n on n.id = node_id
      where subject_id = s.id and node_id <> ${nodeId} and n.leased_until > now()) o on true
  `.execute(db);
  const [first] = rows;
  const now = first?.now ?? 0;
  const minute = Math.floor(now / 60_000);
  const day = Math.floor(now / 86_400_000);
  const known = new Map<string, KnownUse>();
  for (const row of rows) {
    known.set(row.id, {
      limits: row.is_account
        ? limitsFrom(row.limits, accountLimits)
        : limitsFrom(row.limits, noLimits),
      minute,
      requests: row.is_this_minute ? row.requests : 0,
      previous: row.is_this_minute ? row.previous : row.requests,
      day,
      audioMs: row.audio_ms,
      streamsElsewhere: row.streams,
    });
  }
  return { now, known };
}

/** The audio of a job that has succeeded. */
export interface JobAudio {
  readonly accountId: string;
  /** The key with which the job was submitted; null if there was none. */
  readonly keyId: string | null;
  /** The member who submitted the job; null if it was a key. */
  readonly memberId: string | null;
  readonly ms: number;
}

/**
 * Counts the audio of jobs in the transaction that ends them: exactly once, even if workers fail.
 */
export async function countJobAudio(
  trx: Transaction<Tables>,
  jobs: readonly JobAudio[],
): Promise<void> {
  const counted = jobs.flatMap(({ accountId, keyId, memberId, ms }) =>
    [accountId, keyId, memberId].flatMap((id) =>
      id === null ? [] : [{ id, accountId, ms, isMember: id === memberId }],
    ),
  );
  await sql`
    insert into usage_day as d (subject_id, account_id, day, job_ms, member_id)
    select id, account_id, ${today}, ms, ${memberOf("job.is_member", "job.id")}
    from (
      select id, account_id, is_member, sum(ms) as ms
      from unnest(${counted.map(({ id }) => id)}::uuid[], ${counted.map(({ accountId }) => accountId)}::uuid[],
        ${counted.map(({ ms }) => ms)}::bigint[], ${counted.map(({ isMember }) => isMember)}::boolean[])
        as audio (id, account_id, ms, is_member)
      group by id, account_id, is_member) as job
    order by id
    on conflict (subject_id, day) do update set job_ms = d.job_ms + excluded.job_ms,
      member_id = coalesce(d.member_id, excluded.member_id)
  `.execute(trx);
}

/** What an account, a key or a member has used. */
export interface Used {
  readonly requests: number;
  /** The part of `requests` that pages of the console made. */
  readonly consoleRequests: number;
  readonly liveMs: number;
  readonly shortMs: number;
  readonly jobMs: number;
}

/** The use of an account on one day. */
export interface UsageDay extends Used {
  /** The day, such as `2026-11-22`. */
  readonly date: string;
}

/**
 * Returns the days before a date on which the account was used, newest first, at most `limit` of
 * them.
 */
export async function readUsageDays(
  db: Kysely<Tables>,
  accountId: string,
  {
    before = "9999-12-31",
    limit,
  }: { readonly before?: string | undefined; readonly limit: number },
): Promise<UsageDay[]> {
  const { rows } = await sql<UsageDay>`
    select to_char(day, 'YYYY-MM-DD') as date, requests::float8 as requests,
      console_requests::float8 as "consoleRequests", live_ms::float8 as "liveMs",
      short_ms::float8 as "shortMs", job_ms::float8 as "jobMs"
    from usage_day where subject_id = ${accountId} and day < ${before}::date
    order by day desc limit ${limit}`.execute(db);
  return rows;
}

/** The use of a key in a month. */
export interface KeyUsed extends Used {
  /** The name of the key; "" for the sum of all keys that were revoked. */
  readonly key: string;
}

/**
 * Returns the use of each key of an account in a month, such as `2026-11` (UTC), the most calls
 * first. "" means the current month by the database's clock.
 */
export async function readKeyUsage(
  db: Kysely<Tables>,
  accountId: string,
  month: string,
): Promise<KeyUsed[]> {
  const start = startOf(month);
  const { rows } = await sql<KeyUsed>`
    with used as (
      select case when api_key.id is not null then 'apiKeys/' || api_key.id
          when client_key.id is not null then 'clientKeys/' || client_key.id else '' end as key, d.*
      from usage_day d
      left join api_key on api_key.id = d.subject_id and api_key.account_id = d.account_id
      left join client_key on client_key.id = d.subject_id and client_key.account_id = d.account_id
      where d.account_id = ${accountId} and d.subject_id <> d.account_id
        and d.subject_id is distinct from d.member_id
        and d.day >= ${start} and d.day < ${start} + interval '1 month')
    select key, sum(requests)::float8 as requests, sum(console_requests)::float8 as "consoleRequests",
      sum(live_ms)::float8 as "liveMs", sum(short_ms)::float8 as "shortMs", sum(job_ms)::float8 as "jobMs"
    from used group by key order by key = '', requests desc, key`.execute(db);
  return rows;
}

/** The use of a member in a month. */
export interface MemberUsed extends Used {
  /** The name of the member; "" for the sum of all keys that no member created. */
  readonly member: string;
}

/**
 * Returns the use of each member of an account in a month, such as `2026-11` (UTC), the most calls
 * first: in the console, and with the keys that the member created. "" means the current month.
 */
export async function readMemberUsage(
  db: Kysely<Tables>,
  accountId: string,
  month: string,
): Promise<MemberUsed[]> {
  const start = startOf(month);
  const { rows } = await sql<MemberUsed>`
    select coalesce('members/' || member_id, '') as member, sum(requests)::float8 as requests,
      sum(console_requests)::float8 as "consoleRequests", sum(live_ms)::float8 as "liveMs",
      sum(short_ms)::float8 as "shortMs", sum(job_ms)::float8 as "jobMs"
    from usage_day
    where account_id = ${accountId} and subject_id <> account_id
      and day >= ${start} and day < ${start} + interval '1 month'
    group by member_id order by member_id is null, requests desc, member`.execute(db);
  return rows;
}

/** Returns the first day of a month; "" means the current one. */
function startOf(month: string) {
  return month === "" ? sql`date_trunc('month', ${today})::date` : sql`${`${month}-01`}::date`;
}

/** How long the use of keys and members is kept, in days. */
export const keyUsageDays = 400;

/** Removes a node and its streams. */
export async function forgetNode(db: Kysely<Tables>, nodeId: string): Promise<void> {
  await db.deleteFrom("usage_node").where("id", "=", nodeId).execute();
}

/**
 * Deletes rows that are not needed any more: dead nodes, calls from more than an hour ago, and the
 * use of keys and members from more than 400 days ago.
 */
export async function forgetOldUsage(db: Kysely<Tables>): Promise<void> {
  await sql`delete from usage_node where leased_until < now() - interval '1 hour'`.execute(db);
  await sql`delete from usage_minute where minute < floor(extract(epoch from now()) / 60) - 60`.execute(
    db,
  );
  await sql`delete from usage_day where subject_id <> account_id and day < ${today} - ${keyUsageDays}::int`.execute(
    db,
  );
}
