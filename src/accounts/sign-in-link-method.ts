import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { sql, type Kysely, type RawBuilder, type Transaction } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, scopesOfMember } from "../auth/caller.ts";
import { createSignInToken, invitationMsMax, signInLink } from "../auth/sign-in-token.ts";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import { SignInLinkSchema, type Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import type { Log } from "../std/log.ts";
import { endLinks } from "./end-links.ts";
import { lockNamedMember } from "./lock-named-member.ts";
import { refuseMoreThanOwn } from "./refuse-more-than-own.ts";

/** Creates the RPC that makes a link with which a member signs in. */
export function signInLinkMethod({
  publicUrl,
  now: clock,
  ...parts
}: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly publicUrl: () => string;
  readonly now?: () => number;
}) {
  return {
    async createSignInLink({ name }, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      return await audited(parts, caller, async (trx, record) => {
        const member = await lockNamedMember(trx, accountId, name);
        refuseMoreThanOwn(scopesOfMember(member.role, member.is_operator), caller);
        await endLinks(trx, member.id);
        const owner = { accountId, memberId: member.id };
        const expireTime = await timeIn(trx, databaseTime(clock, invitationMsMax));
        const token = await createSignInToken(trx, owner, {
          lifeMs: invitationMsMax,
          now: clock,
        });
        await record({ action: "sign_in_token.create", resource: name });
        return create(SignInLinkSchema, {
          uri: signInLink(publicUrl(), token),
          expireTime: timestampFromDate(expireTime),
        });
      });
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/** Computes a time by the clock of the database, which does not advance in a transaction. */
async function timeIn(trx: Transaction<Tables>, time: RawBuilder<Date>): Promise<Date> {
  const { rows } = await sql<{ time: Date }>`select ${time} as time`.execute(trx);
  const [row] = rows;
  if (!row) throw new Error("the database has no time");
  return row.time;
}
