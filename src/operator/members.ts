import type { Kysely } from "kysely";
import { lockAccount } from "../accounts/lock-account.ts";
import {
  isLastOwner,
  lockMember,
  membersMax,
  type StoredMember,
  countMembers,
} from "../accounts/member-store.ts";
import type { Role } from "../auth/caller.ts";
import type { Tables } from "../database/tables.ts";
import { newId } from "../std/ids.ts";
import { asOperator } from "./as-operator.ts";

/** The properties of a new member. */
export interface WantedMember {
  readonly email: string;
  readonly displayName: string;
  readonly role: Role;
}

/**
 * Invites a person to an account. Resolves to the member. Throws an Error with a message for the
 * operator.
 */
export async function addMember(
  db: Kysely<Tables>,
  accountId: string,
  { email, displayName, role }: WantedMember,
): Promise<StoredMember> {
  return await asOperator(db, accountId, async (trx, record) => {
    await lockAccount(trx, accountId);
    const { count, isTaken } = await countMembers(trx, accountId, email);
    if (isTaken) throw new Error(`the account has a member with the address ${email}`);
    if (count >= membersMax)
      throw new Error(`the account has ${membersMax} members, which is the limit`);
    const row = await trx
      .insertInto("member")
      .values({ id: newId(), account_id: accountId, email, display_name: displayName, role })
      .returningAll()
      .executeTakeFirstOrThrow();
    const resource = `members/${row.id}`;
    const details = { email, displayName, role };
    await record({ action: "member.create", resource, details });
    return row;
  });
}

/**
 * Removes a member. The member's sessions end within a second. Returns false if the member was
 * already removed. Throws if no owner would remain.
 */
export async function removeMember(
  db: Kysely<Tables>,
  { account_id: accountId, id }: StoredMember,
): Promise<boolean> {
  return await asOperator(db, accountId, async (trx, record) => {
    await lockAccount(trx, accountId);
    const member = await lockMember(trx, accountId, id);
    if (!member) return false;
    const { email, display_name: displayName, role } = member;
    const { count } = await countMembers(trx, accountId, email);
    if (count > 1 && (await isLastOwner(trx, member))) throw noOwnerLeft(email);
    await trx.deleteFrom("member").where("id", "=", id).execute();
    const details = { email, displayName, role };
    await record({ action: "member.delete", resource: `members/${id}`, details });
    return true;
  });
}

/**
 * Changes a member's role, with effect within a second. Returns undefined if the member was
 * removed. Throws if no owner would remain.
 */
export async function setRole(
  db: Kysely<Tables>,
  { account_id: accountId, id }: StoredMember,
  role: Role,
): Promise<StoredMember | undefined> {
  return await asOperator(db, accountId, async (trx, record) => {
    await lockAccount(trx, accountId);
    const member = await lockMember(trx, accountId, id);
    if (!member || member.role === role) return member;
    if (await isLastOwner(trx, member)) throw noOwnerLeft(member.email);
    await trx.updateTable("member").set({ role }).where("id", "=", id).execute();
    const details = { roleBefore: member.role, role };
    await record({ action: "member.update", resource: `members/${id}`, details });
    return { ...member, role };
  });
}

/**
 * Makes a member an operator of the whole service, or no longer, with effect within a second.
 * Returns undefined if the member was removed.
 */
export async function setOperator(
  db: Kysely<Tables>,
  { account_id: accountId, id }: StoredMember,
  isOperator: boolean,
): Promise<StoredMember | undefined> {
  return await asOperator(db, accountId, async (trx, record) => {
    await lockAccount(trx, accountId);
    const member = await lockMember(trx, accountId, id);
    if (!member || member.is_operator === isOperator) return member;
    await trx.updateTable("member").set({ is_operator: isOperator }).where("id", "=", id).execute();
    const details = { operator: `${isOperator}` };
    await record({ action: "member.update", resource: `members/${id}`, details });
    return { ...member, is_operator: isOperator };
  });
}

function noOwnerLeft(email: string): Error {
  return new Error(
    `${email} is the only owner: first make another member an owner with \`hlust accounts set-role ID MEMBER OWNER\``,
  );
}
