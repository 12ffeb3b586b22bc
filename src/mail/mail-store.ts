import { sql, type Kysely, type Transaction } from "kysely";
import { linkRequestMsMax } from "../auth/sign-in-token.ts";
import { later } from "../database/lease.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import type { MailLanguage } from "./mail-options.ts";

/** The latest invitation of a member, as its account sees it. */
export interface ShownMail {
  readonly memberId: string;
  readonly state: "PENDING" | "SENT" | "FAILED" | "CANCELED";
  readonly createdAt: Date;
  readonly lastAttemptAt: Date | null;
  readonly attempts: number;
  readonly problem: string | null;
  readonly response: string | null;
}

/** How long mail is listed. */
export const mailDays = 30;

/** Returns the latest invitation that each of these members was sent, by member. */
export async function latestMail(
  db: Kysely<Tables>,
  memberIds: readonly string[],
): Promise<ReadonlyMap<string, ShownMail>> {
  // Mail whose day is over has failed, even if no worker runs that could write it.
  const { rows } = await sql<ShownMail>`
    select mail.* from unnest(${memberIds}::uuid[]) as member (id) cross join lateral (
      select member_id as "memberId", created_at as "createdAt", tries as attempts, response,
        last_attempt_at as "lastAttemptAt",
        case when ${isOver} then 'FAILED' else state end as state,
        case when ${isOver} then coalesce(problem, 'TIME_OVER') else problem end as problem
      from invitation_mail where member_id = member.id and not is_requested
      order by created_at desc, id desc limit 1) mail
  `.execute(db);
  return new Map(rows.map((row) => [row.memberId, row]));
}

const isOver = sql`state = 'PENDING' and give_up_at <= now() and due_at <= now()`;

export interface MailCounts {
  readonly all: number;
  /** Those to one address, in any letter case. */
  readonly toAddress: number;
}

/**
 * Counts the invitations that an account has sent in 24 hours, also to members who were removed.
 * Mail that people have requested themselves has limits of its own (link-requests.ts), so that no
 * stranger uses up those of an account. Requires a lock on the account.
 */
export async function countMail(
  trx: Transaction<Tables>,
  accountId: string,
  email: string,
): Promise<MailCounts> {
  const { all, toAddress } = await trx
    .selectFrom("invitation_mail")
    .where("account_id", "=", accountId)
    .where("is_requested", "=", false)
    .where(sql<boolean>`created_at > now() - interval '24 hours'`)
    .select(({ fn }) => fn.countAll<string>().as("all"))
    .select(sql<string>`count(*) filter (where lower(email) = lower(${email}))`.as("toAddress"))
    .executeTakeFirstOrThrow();
  return { all: Number(all), toAddress: Number(toAddress) };
}

/** A new mail. */
export interface NewMail {
  readonly accountId: string;
  readonly memberId: string;
  readonly email: string;
  readonly language: MailLanguage;
  readonly inviter: string;
  /** Whether the person has requested the mail. Default: false, it is an invitation. */
  readonly isRequested?: boolean;
}

/**
 * Inserts a mail, which a worker sends after the commit. A link that was requested is not sent when
 * it is late: it would surprise.
 */
export async function insertMail(
  trx: Transaction<Tables>,
  { isRequested = false, ...mail }: NewMail,
): Promise<void> {
  await trx
    .insertInto("invitation_mail")
    .values({
      id: newId(),
      account_id: mail.accountId,
      member_id: mail.memberId,
      email: mail.email,
      language: mail.language,
      inviter: mail.inviter,
      is_requested: isRequested,
      ...(isRequested && { give_up_at: later(linkRequestMsMax) }),
    })
    .execute();
}

/**
 * Ends mail to a member that has not been sent, since its link would not be valid. Requires a lock
 * on the member.
 */
export async function cancelMail(trx: Transaction<Tables>, memberId: string): Promise<void> {
  await trx
    .updateTable("invitation_mail")
    .set({ state: "CANCELED" })
    .where("member_id", "=", memberId)
    .where("state", "=", "PENDING")
    .execute();
}
