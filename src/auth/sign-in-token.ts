import { sql, type Kysely } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { SessionOwner } from "./open-session.ts";
import { newSecretToken, readSecretToken, secretMatches } from "./secret-token.ts";

/** How long a link is valid that its own user opens. */
export const signInMsDefault = 600_000;
/** How long the link of an invitation is valid: it is sent to a person, who opens it later. */
export const invitationMsMax = 3 * 24 * 3_600_000;
/**
 * How long the link is valid that a person has requested by mail. Servers may hold mail back for
 * some minutes.
 */
export const linkRequestMsMax = 3_600_000;

const prefix = "hlust_signin_";

interface SignInTokenOptions {
  readonly lifeMs?: number;
  /** A clock of tests. Default: that of the database. */
  readonly now?: (() => number) | undefined;
}

/**
 * Creates a token that signs in to the console once, within `lifeMs` (default: 10 minutes), as a
 * member or with the scopes of an API key. Only its hash is stored. The links printed by the
 * command line and at the first start, and those for invited members, contain such a token.
 */
export async function createSignInToken(
  db: Kysely<Tables>,
  owner: SessionOwner,
  { lifeMs = signInMsDefault, now }: SignInTokenOptions = {},
): Promise<string> {
  const { id, token, secretHash } = newSecretToken(prefix);
  await removeExpiredTokens(db, now);
  await db
    .insertInto("sign_in_token")
    .values({
      id,
      account_id: owner.accountId,
      member_id: "memberId" in owner ? owner.memberId : null,
      api_key_id: "apiKeyId" in owner ? owner.apiKeyId : null,
      secret_hash: secretHash,
      expires_at: databaseTime(now, lifeMs),
    })
    .execute();
  return token;
}

/**
 * Returns the link with a sign-in token. The token is in the fragment, which browsers do not send
 * and servers do not log.
 */
export function signInLink(publicUrl: string, token: string): string {
  return `${publicUrl}/console/#signInToken=${token}`;
}

/**
 * Deletes tokens that have expired, except for those that another transaction deletes or looks at:
 * to wait for it could be a deadlock, since this one has locks of its own.
 */
export async function removeExpiredTokens(db: Kysely<Tables>, now?: () => number): Promise<void> {
  await sql`
    delete from sign_in_token where id in (
      select id from sign_in_token where expires_at <= ${databaseTime(now)} for update skip locked)
  `.execute(db);
}

/** Deletes a token that no one has. */
export async function dropSignInToken(db: Kysely<Tables>, token: string): Promise<void> {
  const shown = readSecretToken(prefix, token);
  if (shown) await db.deleteFrom("sign_in_token").where("id", "=", shown.id).execute();
}

/**
 * Consumes a token and returns the owner whom it signs in. `isGood` is false if the token exists
 * but its secret is wrong or it has expired.
 */
export async function takeSignInToken(
  db: Kysely<Tables>,
  token: string,
  now?: () => number,
): Promise<{ readonly owner: SessionOwner; readonly isGood: boolean } | undefined> {
  const shown = readSecretToken(prefix, token);
  if (!shown) return undefined;
  return await db.transaction().execute(async (transaction) => {
    const row = await transaction
      .selectFrom("sign_in_token")
      .selectAll()
      .select(sql<boolean>`expires_at <= ${databaseTime(now)}`.as("has_expired"))
      .where("id", "=", shown.id)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return undefined;
    const accountId = row.account_id;
    const owner =
      row.member_id === null
        ? { accountId, apiKeyId: row.api_key_id ?? "" }
        : { accountId, memberId: row.member_id };
    if (!secretMatches(shown.secret, row.secret_hash) || row.has_expired) {
      return { owner, isGood: false };
    }
    await transaction.deleteFrom("sign_in_token").where("id", "=", shown.id).execute();
    return { owner, isGood: true };
  });
}
