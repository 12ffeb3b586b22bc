import { sql, type Kysely, type Selectable, type Transaction } from "kysely";
import type { MemberTable } from "../database/access-tables.ts";
import type { Tables } from "../database/tables.ts";

export type StoredMember = Selectable<MemberTable>;

/** The maximum number of members of an account, since lists return all members. */
export const membersMax = 1000;

/** Returns all members of an account, newest first. */
export async function listMembers(db: Kysely<Tables>, accountId: string): Promise<StoredMember[]> {
  return await db
    .selectFrom("member")
    .where("account_id", "=", accountId)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/**
 * Returns a member, locked until the transaction ends, or undefined if the account has no such
 * member.
 */
export async function lockMember(
  trx: Transaction<Tables>,
  accountId: string,
  id: string,
): Promise<StoredMember | undefined> {
  return await trx
    .selectFrom("member")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .selectAll()
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Returns the number of members of the account, and whether one of them has this address. Requires
 * a lock on the account.
 */
export async function countMembers(
  trx: Transaction<Tables>,
  accountId: string,
  email: string,
): Promise<{ count: number; isTaken: boolean }> {
  const { count, taken } = await trx
    .selectFrom("member")
    .where("account_id", "=", accountId)
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .select(sql<boolean | null>`bool_or(lower(email) = lower(${email}))`.as("taken"))
    .executeTakeFirstOrThrow();
  return { count: Number(count), isTaken: taken === true };
}

/**
 * Returns whether this member is the only owner of the account. Requires a lock on the account.
 */
export async function isLastOwner(
  trx: Transaction<Tables>,
  { id, account_id, role }: StoredMember,
): Promise<boolean> {
  if (role !== "OWNER") return false;
  const other = await trx
    .selectFrom("member")
    .where("account_id", "=", account_id)
    .where("role", "=", "OWNER")
    .where("id", "!=", id)
    .select("id")
    .limit(1)
    .execute();
  return other.length === 0;
}
