import { sql, type Kysely, type Transaction } from "kysely";
import { logAct, recordAct, type Act, type Actor } from "../auth/audit-log.ts";
import { linkRequestMsMax } from "../auth/sign-in-token.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { insertMail } from "./mail-store.ts";

/** The maximum number of mails for a request: the accounts that the person used last. */
export const accountsMax = 10;
/** After this many requests that fail, the others wait: something else is the cause. */
const failedMax = 100;
/** The advisory lock of an e-mail address, together with a hash of it. */
const addressLock = 4_750_415;

/**
 * Answers the requests for links that wait, oldest first: writes a mail to each member with the
 * address in an account that is not disabled, and the audit event, and deletes the request. A
 * request that no worker has answered for an hour is only deleted, since no one waits any more.
 * Throws the first error of a request, after all others are answered.
 */
export async function answerLinkRequests(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = parts;
  const failed: string[] = [];
  let failure: unknown;
  while (!signal.aborted && failed.length < failedMax) {
    let taken: string | undefined;
    try {
      const acts = await db
        .transaction()
        .execute(async (trx) => await answerNext(trx, failed, (id) => (taken = id)));
      if (!acts) break;
      for (const { actor, act } of acts) logAct(log, actor, act);
    } catch (error) {
      if (taken === undefined) throw error;
      failed.push(taken);
      failure ??= error;
    }
  }
  if (failed.length > 0) throw failure;
}

interface MemberAct {
  readonly actor: Actor;
  readonly act: Act;
}

/**
 * Answers one request, except those that failed. Returns what is in the audit log, or undefined if
 * no request waits. `onTaken` gets the request before it is answered.
 */
async function answerNext(
  trx: Transaction<Tables>,
  failed: readonly string[],
  onTaken: (id: string) => void,
): Promise<readonly MemberAct[] | undefined> {
  const request = await trx
    .deleteFrom("link_request")
    .where("id", "=", (query) =>
      query
        .selectFrom("link_request")
        .select("id")
        .where(sql<boolean>`id <> all(${failed}::uuid[])`)
        .orderBy("created_at")
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .returning(isOld.as("isOld"))
    .executeTakeFirst();
  if (!request) return undefined;
  onTaken(request.id);
  if (request.isOld) return [];
  const { email, language, address, request_id: requestId } = request;
  // Another worker may answer another request for the address, and its mail is not seen before it
  // commits: the requests of one address are answered one after the other.
  await sql`select pg_advisory_xact_lock(${addressLock}, hashtext(${email}))`.execute(trx);
  const made: MemberAct[] = [];
  for (const { id: memberId, account_id: accountId, isMailed } of await membersAt(trx, email)) {
    const actor = { accountId, actor: `members/${memberId}`, origin: { address, requestId } };
    const act: Act = { action: "sign_in_token.request", resource: "" };
    await recordAct(trx, actor, act);
    made.push({ actor, act });
    // Another mail would say the same, for example after an outage of the mail server.
    if (isMailed) continue;
    const mail = { accountId, memberId, email, language, inviter: "", isRequested: true };
    await insertMail(trx, mail);
  }
  return made;
}

const isOld = sql<boolean>`created_at <= now() - ${linkRequestMsMax} * interval '1 millisecond'`;

/**
 * Returns the members with an address, and whether a mail that they have requested waits. They are
 * locked against being removed meanwhile.
 */
async function membersAt(trx: Transaction<Tables>, email: string) {
  return await trx
    .selectFrom("member")
    .innerJoin("account", "account.id", "member.account_id")
    .select(["member.id", "member.account_id"])
    .select((row) =>
      row
        .exists(
          row
            .selectFrom("invitation_mail as waiting")
            .select("waiting.id")
            .whereRef("waiting.member_id", "=", "member.id")
            .where("waiting.is_requested", "=", true)
            .where("waiting.state", "=", "PENDING")
            .where("waiting.give_up_at", ">", sql<Date>`now()`),
        )
        .as("isMailed"),
    )
    .where(({ fn }) => fn<string>("lower", ["member.email"]), "=", email)
    .where("account.disabled_at", "is", null)
    .orderBy("member.last_sign_in_at", (order) => order.desc().nullsLast())
    .orderBy("member.id")
    .limit(accountsMax)
    .forKeyShare("member")
    .execute();
}
