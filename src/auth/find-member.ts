import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { foldEmail } from "./email.ts";
import type { CheckedOwner } from "./open-session.ts";

/** A person's identity at an OpenID Connect provider. */
export interface Person {
  readonly issuer: string;
  /** The provider's identifier of the person; it stays when the address changes. */
  readonly subject: string;
  /** "" if the provider gives none. */
  readonly email: string;
  readonly emailVerified: boolean;
}

/**
 * The members that a person is, the most recently used account first: those who have signed in as
 * this subject, and those who were invited by the address, if the provider has verified it and no
 * one has signed in as them yet. From then on the subject counts, no matter who owns the address
 * later.
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
 * Binds invitations to the address to the person, except where the account knows the person by
 * another invitation.
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
