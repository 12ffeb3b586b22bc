import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { foldEmail } from "./email.ts";
import type { CheckedOwner } from "./open-session.ts";

/** A person's identity at an OpenID Connect provider. */
export interface Person {
  readonly issuer: string;
  /** The provider's identifier for the person, which stays the same if the address changes. */
  readonly subject: string;
  /** The person's address; "" if the provider returns none. */
  readonly email: string;
  readonly emailVerified: boolean;
}

/**
 * Returns the members that belong to a person, the most recently used account first. These are
 * members that have signed in as this subject, and members that were invited at the address, if the
 * provider has verified it and they have never signed in. After the first sign-in the subject
 * identifies the member, no matter who owns the address later.
 */
export async function memberOf(db: Kysely<Tables>, person: Person): Promise<CheckedOwner[]> {
  const { issuer, subject, emailVerified } = person;
  const address = foldEmail(person.email);
  if (emailVerified && address !== undefined) await bind(db, person, address);
  const rows = await db
    .selectFrom("member")
    .innerJoin("account", "account.id", "member.account_id")
    .select(["member.id", "member.account_id", "member.issuer", "member.subject"])
    .select("account.disabled_at")
    .where((row) =>
      row.or([
        row.and([row("member.issuer", "=", issuer), row("member.subject", "=", subject)]),
        ...(address === undefined ? [] : [row(row.fn("lower", ["member.email"]), "=", address)]),
      ]),
    )
    .orderBy("member.last_sign_in_at", (order) => order.desc().nullsLast())
    .orderBy("member.id")
    .execute();
  return rows.map((row) => ({
    owner: { accountId: row.account_id, memberId: row.id },
    problem:
      row.issuer !== issuer || row.subject !== subject
        ? ("other_identity" as const)
        : row.disabled_at !== null
          ? ("account_disabled" as const)
          : undefined,
  }));
}

/**
 * Assigns the invitations for the address to the person, except in accounts in which the person is
 * already a member through another invitation.
 */
async function bind(
  db: Kysely<Tables>,
  { issuer, subject }: Person,
  address: string,
): Promise<void> {
  await db
    .updateTable("member")
    .set({ issuer, subject })
    .where((row) => row(row.fn("lower", ["member.email"]), "=", address))
    .where("subject", "is", null)
    .where((row) =>
      row.not(
        row.exists(
          row
            .selectFrom("member as known")
            .select("known.id")
            .whereRef("known.account_id", "=", "member.account_id")
            .where("known.issuer", "=", issuer)
            .where("known.subject", "=", subject),
        ),
      ),
    )
    .execute();
}
