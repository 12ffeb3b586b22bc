import { sql, type Kysely } from "kysely";
import { createSignInToken, invitationMsMax, linkRequestMsMax } from "../auth/sign-in-token.ts";
import { isDue, isHeld, later, releaseLease, type Lease } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { retryDelayMs } from "../std/retry-delay.ts";
import type { MailFailure } from "./explain-failure.ts";
import type { MailLanguage } from "./mail-options.ts";
import { mailDays } from "./mail-store.ts";

/** A worker's lease on a mail for one attempt, with everything that the mail says. */
export interface LeasedMail extends Lease {
  readonly accountId: string;
  readonly memberId: string;
  readonly email: string;
  readonly language: MailLanguage;
  readonly inviter: string;
  /** The name of the account. */
  readonly account: string;
  /** Whether the member has signed in before. */
  readonly isKnown: boolean;
  /** Whether the person has requested the link, and was not invited. */
  readonly isRequested: boolean;
  /** The number of attempts, including this one. */
  readonly attempts: number;
  /** The number of earlier attempts whose outcome is unknown. */
  readonly unnoted: number;
  /** The time from the lease until the mail is given up. */
  readonly leftMs: number;
}

/** The most attempts with an unknown outcome, and so the most times that a member gets a mail. */
const unnotedMax = 2;
/** The longest lease or delay of a mail. */
const waitMsMax = 3 * 3_600_000;
const sweptAtOnce = 1_000;

export interface NextMail {
  readonly leaseMs: number;
  readonly room: number;
  /**
   * The mails whose attempts are in progress on this worker. After an outage of the database their
   * leases may have expired before the worker could write down what has become of them. The worker
   * does not lease these mails again.
   */
  readonly sending?: Iterable<string>;
}

/**
 * Leases mail that is due. Mail to members who were removed, of disabled accounts, and mail whose
 * day is over is not sent.
 */
export async function leaseMail(
  db: Kysely<Tables>,
  { leaseMs, room, sending = [] }: NextMail,
): Promise<LeasedMail[]> {
  const { rows } = await sql<LeasedMail>`
    with next as (
      select m.id from invitation_mail m
      join member on member.id = m.member_id
      join account on account.id = m.account_id and account.disabled_at is null
      where m.state = 'PENDING' and m.unnoted < ${unnotedMax}::int and m.give_up_at > now()
        and ${isDue(waitMsMax)} and m.id <> all (${[...sending]}::uuid[])
      order by m.due_at limit ${room}::int for update of m skip locked)
    update invitation_mail m
    set lease = lease + 1, tries = tries + 1, last_attempt_at = now(),
      due_at = ${later(leaseMs)}
    from next, member, account
    where m.id = next.id and member.id = m.member_id and account.id = m.account_id
    returning m.id, m.lease as number, m.account_id as "accountId", m.member_id as "memberId",
      m.email, m.language, m.inviter, m.unnoted, m.is_requested as "isRequested",
      account.display_name as account, m.tries as attempts,
      member.last_sign_in_at is not null as "isKnown",
      extract(epoch from m.give_up_at - now())::float8 * 1000 as "leftMs"
  `.execute(db);
  return rows;
}

/**
 * Begins an attempt, with the whole time of the lease and with a new token for the link if it needs
 * one. To repeat it after a lost response counts one attempt: until then nothing was sent. Tokens
 * of earlier attempts stay valid, since the member may have got their mail. Returns undefined if
 * the mail must not be sent any more: the member was removed, or a later link has replaced this
 * one.
 */
export async function beginAttempt(
  db: Kysely<Tables>,
  mail: LeasedMail,
  { needsToken, leaseMs }: { readonly needsToken: boolean; readonly leaseMs: number },
): Promise<{ readonly token: string | undefined } | undefined> {
  return await db.transaction().execute(async (trx) => {
    // Calls that replace links lock the member first, and then the mail.
    const member = await trx
      .selectFrom("member")
      .where("id", "=", mail.memberId)
      .select("id")
      .forKeyShare()
      .executeTakeFirst();
    if (!member) return undefined;
    const { numUpdatedRows } = await trx
      .updateTable("invitation_mail")
      .set({ unnoted: mail.unnoted + 1, due_at: later(leaseMs) })
      .where(isHeld("invitation_mail", mail))
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return undefined;
    if (!needsToken) return { token: undefined };
    const { accountId, memberId } = mail;
    const lifeMs = mail.isRequested ? linkRequestMsMax : invitationMsMax;
    return { token: await createSignInToken(trx, { accountId, memberId }, { lifeMs }) };
  });
}

/**
 * Records that the server has accepted a mail, also if another worker has leased the mail
 * meanwhile or it was given up: no worker may send it again. Returns false if this is recorded
 * already, or if the mail was canceled.
 */
export async function noteSent(db: Kysely<Tables>, { id }: Pick<Lease, "id">): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("invitation_mail")
    .set({ state: "SENT", unnoted: 0, problem: null, response: null })
    .where("id", "=", id)
    .where("state", "in", ["PENDING", "FAILED"])
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Records a failed attempt: the mail waits for the next attempt, or is given up. `chance`: 0 to 1.
 * Returns whether it was given up, or undefined if the lease is lost.
 */
export async function noteFailed(
  db: Kysely<Tables>,
  mail: LeasedMail,
  failure: MailFailure,
  { elapsedMs, chance }: { readonly elapsedMs: number; readonly chance: number },
): Promise<boolean | undefined> {
  const leftMs = mail.leftMs - elapsedMs;
  const delayMs = failure.isFinal
    ? undefined
    : retryDelayMs({ attempts: mail.attempts, leftMs, chance });
  const { problem, response, isUnknown } = failure;
  const isOver = sql`${isUnknown}::boolean and unnoted >= ${unnotedMax}::int`;
  const noted = await db
    .updateTable("invitation_mail")
    .set({
      response,
      problem: sql<string>`case when ${isOver} then 'OUTCOME_UNKNOWN' else ${problem}::text end`,
      ...(!isUnknown && { unnoted: mail.unnoted }),
      due_at: later(delayMs ?? 0),
      state: sql`case when ${delayMs === undefined}::boolean or ${isOver} then 'FAILED' else state end`,
    })
    .where(isHeld("invitation_mail", mail))
    .returning("state")
    .executeTakeFirst();
  return noted && noted.state === "FAILED";
}

/** Releases a mail that was not sent, so that any worker may lease it immediately. */
export async function releaseMail(
  db: Kysely<Tables>,
  mail: Lease & Pick<LeasedMail, "unnoted">,
): Promise<void> {
  const uncounted = { afterMs: 0, isForgiven: true, set: sql`, unnoted = ${mail.unnoted}::int` };
  await releaseLease(db, "invitation_mail", mail, uncounted);
}

/** A mail that was given up because its time is over or its outcome is unknown. */
export interface GivenUpMail {
  readonly mailId: string;
  readonly problem: string;
}

/**
 * Ends mail that no worker sends any more: the outcome of two attempts is unknown, its day is over,
 * or its member was removed. Yields what has failed, at most 1,000 mails for each statement. Then
 * deletes mail that is too old to be listed.
 */
export async function* sweepMail(
  db: Kysely<Tables>,
  signal: AbortSignal,
): AsyncGenerator<readonly GivenUpMail[]> {
  for (let count = sweptAtOnce; count === sweptAtOnce;) {
    signal.throwIfAborted();
    const { rows } = await sql<GivenUpMail & { readonly state: string }>`
      update invitation_mail set
        state = case when member_id is null then 'CANCELED' else 'FAILED' end,
        problem = case when unnoted >= ${unnotedMax}::int then 'OUTCOME_UNKNOWN'
          else coalesce(problem, 'TIME_OVER') end
      where id in (
        select id from invitation_mail
        where state = 'PENDING' and due_at <= now()
          and (unnoted >= ${unnotedMax}::int or give_up_at <= now() or member_id is null)
        limit ${sweptAtOnce} for update skip locked)
      returning id as "mailId", problem, state
    `.execute(db);
    count = rows.length;
    const failed = rows.filter(({ state }) => state === "FAILED");
    if (failed.length > 0) yield failed.map(({ mailId, problem }) => ({ mailId, problem }));
  }
  for (let count = sweptAtOnce; count === sweptAtOnce;) {
    signal.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from invitation_mail where id in (
        select id from invitation_mail
        where state <> 'PENDING' and created_at < now() - ${mailDays} * interval '1 day'
        limit ${sweptAtOnce} for update skip locked)
    `.execute(db);
    count = Number(numAffectedRows);
  }
}
