import { sql, type Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { audited } from "./audit-log.ts";
import type { Caller } from "./caller.ts";
import { readScopesNow } from "./live-credentials.ts";
import { newSecretToken, readSecretToken, secretMatches } from "./secret-token.ts";

/** How long a stream token is valid (docs/api.md, Access). */
export const streamTokenSeconds = 60;
const prefix = "hlust_stream_";
/** The maximum number of expired tokens that are deleted when a token is created. */
const sweptMax = 100;

/** Returns whether a token has the form of a stream token, which begins like an API key. */
export function looksLikeStreamToken(token: string): boolean {
  return token.startsWith(prefix);
}

/**
 * Creates a token that opens one socket for the caller on any node, within a minute by the
 * database's clock.
 */
export async function createStreamToken(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  caller: Caller,
): Promise<{ id: string; token: string; expiresAt: Date }> {
  const { id, token, secretHash } = newSecretToken(prefix);
  await sweep(parts.db);
  const { expires_at } = await audited(parts, caller, async (trx, record) => {
    await record({ action: "stream_token.create", resource: `streamTokens/${id}` });
    return await trx
      .insertInto("stream_token")
      .values({
        id,
        account_id: caller.accountId,
        actor: caller.actor,
        credential_kind: caller.credential.kind,
        credential_id: caller.credential.id,
        key_id: caller.keyId ?? null,
        secret_hash: secretHash,
        expires_at: sql<Date>`now() + make_interval(secs => ${streamTokenSeconds})`,
      })
      .returning("expires_at")
      .executeTakeFirstOrThrow();
  });
  return { id, token, expiresAt: expires_at };
}

/**
 * Consumes a stream token and returns its caller. Only one call, on any node, gets a result. The
 * creator's credential must still be valid. The only scope is speech.
 */
export async function takeStreamToken(
  db: Kysely<Tables>,
  token: string,
): Promise<Omit<Caller, "origin"> | undefined> {
  const shown = readSecretToken(prefix, token);
  if (!shown) return undefined;
  const row = await db
    .selectFrom("stream_token")
    .selectAll()
    .where("id", "=", shown.id)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
  if (!secretMatches(shown.secret, row?.secret_hash) || !row) return undefined;
  const credential = { kind: row.credential_kind, id: row.credential_id };
  const scopesNow = await readScopesNow(db, [credential]);
  if (!scopesNow(credential)?.has("speech")) return undefined;
  const taken = await db.deleteFrom("stream_token").where("id", "=", row.id).executeTakeFirst();
  if (taken.numDeletedRows === 0n) return undefined;
  return {
    accountId: row.account_id,
    actor: row.actor,
    credential,
    keyId: row.key_id ?? undefined,
    role: undefined,
    scopes: new Set(["speech"]),
  };
}

/** Deletes expired tokens. Nodes that create tokens concurrently delete different rows. */
async function sweep(db: Kysely<Tables>): Promise<void> {
  await db
    .deleteFrom("stream_token")
    .where("id", "in", (query) =>
      query
        .selectFrom("stream_token")
        .select("id")
        .where("expires_at", "<=", sql<Date>`now()`)
        .limit(sweptMax)
        .forUpdate()
        .skipLocked(),
    )
    .execute();
}
