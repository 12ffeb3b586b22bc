import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Role } from "./caller.ts";
import type { Session } from "./session-store.ts";

/** An account that a signed-in person may use. */
export interface MemberAccount {
  readonly accountId: string;
  readonly displayName: string;
  /** The role of a member; undefined for a session that was opened with an API key. */
  readonly role: Role | undefined;
}

/**
 * Returns the account of a session, followed by the person's other accounts in the order of their
 * names.
 */
export async function accountsOf(db: Kysely<Tables>, session: Session): Promise<MemberAccount[]> {
  const { accountId, accountDisplayName: displayName, role } = session;
  const others = await db
    .selectFrom("session")
    .innerJoin("member as signed_in", "signed_in.id", "session.member_id")
    .innerJoin("member", (join) =>
      join
        .onRef("member.issuer", "=", "signed_in.issuer")
        .onRef("member.subject", "=", "signed_in.subject"),
    )
    .innerJoin("account", "account.id", "member.account_id")
    .select(["account.id as accountId", "account.display_name as displayName", "member.role"])
    .where("session.id", "=", session.id)
    .where("account.id", "!=", accountId)
    .where("account.disabled_at", "is", null)
    .orderBy("account.display_name")
    .orderBy("account.id")
    .execute();
  return [{ accountId, displayName, role }, ...others];
}
