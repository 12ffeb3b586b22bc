import type { Kysely } from "kysely";
import { actorOf, type SessionOwner } from "../auth/open-session.ts";
import { createSignInToken, signInLink } from "../auth/sign-in-token.ts";
import type { Tables } from "../database/tables.ts";
import { asOperator } from "./as-operator.ts";

/**
 * Creates a link to the console at `publicUrl`. The link signs in once, within 10 minutes, as a
 * member or with the scopes of an API key.
 */
export async function createSignInLink(
  db: Kysely<Tables>,
  owner: SessionOwner,
  publicUrl: string,
): Promise<string> {
  const token = await asOperator(db, owner.accountId, async (trx, record) => {
    await record({ action: "sign_in_token.create", resource: actorOf(owner) });
    return await createSignInToken(trx, owner);
  });
  return signInLink(publicUrl, token);
}
