import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, scopesOfRole } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import type { Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { cancelMail } from "../mail/mail-store.ts";
import { newId } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import type { AccountMail } from "./account-mail.ts";
import { checkNewMember, readMemberChange, refuseOtherEmail } from "./check-member.ts";
import { lockAccount } from "./lock-account.ts";
import { lockNamedMember } from "./lock-named-member.ts";
import { memberMessage, memberWithMail, membersWithMail } from "./member-message.ts";
import { isLastOwner, listMembers, membersMax, countMembers } from "./member-store.ts";
import { refuseMoreThanOwn } from "./refuse-more-than-own.ts";

/** Creates the RPCs of an account's members. */
export function memberMethods(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly mail: AccountMail;
}) {
  const { db } = parts;
  return {
    async createMember(request, context) {
      const caller = callerOf(context);
      const { accountId } = caller;
      const wanted = checkNewMember(request);
      refuseMoreThanOwn(scopesOfRole[wanted.role], caller);
      return await audited(parts, caller, async (trx, record) => {
        await lockAccount(trx, accountId);
        const { count, isTaken } = await countMembers(trx, accountId, wanted.email);
        if (isTaken) throw memberExists();
        if (count >= membersMax) throw tooManyMembers();
        const row = await trx
          .insertInto("member")
          .values({ ...wanted, id: newId(), account_id: accountId })
          .returningAll()
          .executeTakeFirstOrThrow();
        const { email, display_name: displayName, role } = row;
        const resource = `members/${row.id}`;
        const details = { email, displayName, role };
        await record({ action: "member.create", resource, details });
        return memberMessage(row);
      });
    },

    async listMembers(_request, context) {
      const rows = await listMembers(db, callerOf(context).accountId);
      return { members: await membersWithMail(db, rows), sendsMail: parts.mail.isSent };
    },

    async updateMember(request, context) {
      const caller = callerOf(context);
      const name = request.member?.name ?? "";
      return await audited(parts, caller, async (trx, record) => {
        const before = await lockNamedMember(trx, caller.accountId, name);
        const change = readMemberChange(request);
        refuseOtherEmail(request, before.email);
        const { role } = change;
        if (role && role !== before.role) {
          refuseMoreThanOwn(scopesOfRole[role], caller);
          if (await isLastOwner(trx, before)) throw lastOwner();
        }
        const row = await trx
          .updateTable("member")
          .set(change)
          .where("id", "=", before.id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const details = role ? { roleBefore: before.role, role } : undefined;
        await record({ action: "member.update", resource: name, ...(details && { details }) });
        return await memberWithMail(trx, row);
      });
    },

    async deleteMember({ name }, context) {
      const caller = callerOf(context);
      await audited(parts, caller, async (trx, record) => {
        const before = await lockNamedMember(trx, caller.accountId, name);
        const { count } = await countMembers(trx, caller.accountId, before.email);
        if (count > 1 && (await isLastOwner(trx, before))) throw lastOwner();
        await cancelMail(trx, before.id);
        await trx.deleteFrom("member").where("id", "=", before.id).execute();
        const { email, display_name: displayName, role } = before;
        const details = { email, displayName, role };
        await record({ action: "member.delete", resource: name, details });
      });
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

function memberExists(): ServiceError {
  return new ServiceError(
    "already_exists",
    "email: the account already has a member with this address",
    {
      reason: "MEMBER_EXISTS",
    },
  );
}

function tooManyMembers(): ServiceError {
  return new ServiceError(
    "resource_exhausted",
    `the account has ${membersMax} members: remove one first`,
    { reason: "TOO_MANY_MEMBERS" },
  );
}

function lastOwner(): ServiceError {
  return new ServiceError(
    "failed_precondition",
    "the account would have members but no owner: first make another member an owner",
    { reason: "LAST_OWNER" },
  );
}
