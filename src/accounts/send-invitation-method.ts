import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, Transaction } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, memberIdOf, scopesOfMember, type Caller } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { mailLanguages, type MailLanguage } from "../mail/mail-options.ts";
import { countMail, insertMail } from "../mail/mail-store.ts";
import type { Log } from "../std/log.ts";
import { invalidArgument, ServiceError, shown } from "../std/service-error.ts";
import type { AccountMail } from "./account-mail.ts";
import { endLinks } from "./end-links.ts";
import { lockNamedMember } from "./lock-named-member.ts";
import { memberWithMail } from "./member-message.ts";
import { refuseMoreThanOwn } from "./refuse-more-than-own.ts";

/** The maximum number of mails in 24 hours to one address, so that no person is flooded. */
const perAddressMax = 5;

/** Creates the RPC that sends a member a link by mail. */
export function sendInvitationMethod(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly mail: AccountMail;
}) {
  const { mail } = parts;
  return {
    async sendInvitation({ name, languageCode }, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      return await audited(parts, caller, async (trx, record) => {
        const member = await lockNamedMember(trx, accountId, name);
        refuseMoreThanOwn(scopesOfMember(member.role, member.is_operator), caller);
        const language = readLanguage(languageCode);
        if (!mail.isSent) throw noMail();
        const { email, id: memberId } = member;
        const sent = await countMail(trx, accountId, email);
        if (sent.all >= mail.perDayMax) throw tooMuchMail(mail.perDayMax);
        if (sent.toAddress >= perAddressMax) throw mailedTooOften(email);
        await endLinks(trx, memberId);
        const inviter = await nameOf(trx, caller);
        await insertMail(trx, { accountId, memberId, email, language, inviter });
        await record({ action: "invitation.send", resource: name, details: { email } });
        return await memberWithMail(trx, member);
      });
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/** Returns the name of the member who calls; "" for keys and for members without a name. */
async function nameOf(trx: Transaction<Tables>, caller: Caller): Promise<string> {
  const id = memberIdOf(caller);
  if (id === undefined) return "";
  const row = await trx
    .selectFrom("member")
    .where("id", "=", id)
    .select("display_name")
    .executeTakeFirst();
  return row?.display_name ?? "";
}

function readLanguage(code: string): MailLanguage {
  const language = mailLanguages.find((each) => each === (code || "en"));
  if (language) return language;
  const description = `must be one of ${mailLanguages.join(", ")}, not ${shown(code)}`;
  throw invalidArgument([{ field: "languageCode", description }]);
}

function noMail(): ServiceError {
  return new ServiceError(
    "failed_precondition",
    "the service sends no mail: create a link with CreateSignInLink, or ask the operator to set HLUST_SMTP_URL",
    { reason: "MAIL_NOT_SET_UP" },
  );
}

function tooMuchMail(max: number): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the account has caused ${max} mails within 24 hours, its limit (HLUST_MAILS_PER_DAY): send the link yourself, or try again tomorrow`,
    { reason: "TOO_MUCH_MAIL", metadata: { limit: String(max) } },
  );
}

function mailedTooOften(email: string): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `${shown(email)} has been sent ${perAddressMax} mails within 24 hours; at most ${perAddressMax} are allowed: send the link yourself, or try again tomorrow`,
    { reason: "MAILED_TOO_OFTEN", metadata: { limit: String(perAddressMax) } },
  );
}
