import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Kysely, SelectQueryBuilder } from "kysely";
import { audited } from "../auth/audit-log.ts";
import { callerOf, type Caller } from "../auth/caller.ts";
import { idleMsMax } from "../auth/session-store.ts";
import type { Tables } from "../database/tables.ts";
import { SessionSchema, type Accounts } from "../gen/hlust/accounts/v1/accounts_pb.ts";
import { timestampFromDate } from "../std/duration.ts";
import { idIn } from "../std/ids.ts";
import type { Log } from "../std/log.ts";
import { ServiceError, shown } from "../std/service-error.ts";

/** Creates the RPCs of console sessions. */
export function sessionMethods(parts: {
  readonly db: Kysely<Tables>;
  readonly log: Log;
  readonly now?: () => number;
}) {
  const { db, now = Date.now } = parts;
  return {
    async listSessions(_request, context) {
      const caller = callerOf(context);
      const rows = await visible(db, caller, now())
        .leftJoin("member", "member.id", "session.member_id")
        .leftJoin("api_key", "api_key.id", "session.api_key_id")
        .selectAll("session")
        .select(["member.email", "member.display_name as member_name"])
        .select("api_key.display_name as key_name")
        .orderBy("session.created_at", "desc")
        .orderBy("session.id", "desc")
        .execute();
      const sessions = rows.map((row) =>
        create(SessionSchema, {
          name: `sessions/${row.id}`,
          actor: row.member_id === null ? `apiKeys/${row.api_key_id}` : `members/${row.member_id}`,
          displayName: row.member_name || row.email || (row.key_name ?? ""),
          address: row.address,
          userAgent: row.user_agent,
          creationTime: timestampFromDate(row.created_at),
          lastUseTime: timestampFromDate(row.last_used_at),
          expireTime: timestampFromDate(row.expires_at),
          isCurrent: caller.credential.kind === "session" && caller.credential.id === row.id,
        }),
      );
      return { sessions };
    },

    async deleteSession({ name }, context) {
      const caller = callerOf(context);
      const id = idIn("sessions", name);
      const deleted = await audited(parts, caller, async (trx, record) => {
        if (id === undefined) return false;
        const { numDeletedRows } = await trx
          .deleteFrom("session")
          .where("id", "in", visible(trx, caller, now()).select("session.id"))
          .where("id", "=", id)
          .executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await record({ action: "session.delete", resource: name });
        return true;
      });
      if (!deleted) throw new ServiceError("not_found", `there is no ${shown(name)}`);
      return create(EmptySchema);
    },
  } satisfies Partial<ServiceImpl<typeof Accounts>>;
}

/**
 * Selects the valid sessions that the caller can see: all sessions of the account, or without the
 * scope `account` only the caller's own sessions.
 */
function visible(
  db: Kysely<Tables>,
  { accountId, actor, scopes }: Caller,
  now: number,
): SelectQueryBuilder<Tables, "session", object> {
  const rows = db
    .selectFrom("session")
    .where("session.account_id", "=", accountId)
    .where("session.expires_at", ">", new Date(now))
    .where("session.last_used_at", ">", new Date(now - idleMsMax));
  if (scopes.has("account")) return rows;
  const [memberId, keyId] = [idIn("members", actor), idIn("apiKeys", actor)];
  return rows.where((row) =>
    row.or([
      ...(memberId === undefined ? [] : [row("session.member_id", "=", memberId)]),
      ...(keyId === undefined ? [] : [row("session.api_key_id", "=", keyId)]),
    ]),
  );
}
