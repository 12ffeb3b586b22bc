import type { Kysely } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { audited, type Actor } from "./audit-log.ts";
import type { CallOrigin } from "./caller.ts";
import type { NewSecretToken } from "./secret-token.ts";
import { idleMsMax, lifeMsMax, type Session } from "./session-store.ts";

/** The member or key to which a session belongs. */
export type SessionOwner =
  | { readonly accountId: string; readonly memberId: string }
  | { readonly accountId: string; readonly apiKeyId: string };

/** The owner of the presented credentials, and the reason if the credentials are refused. */
export interface CheckedOwner {
  readonly owner: SessionOwner;
  readonly problem?: "wrong_secret" | "expired" | "account_disabled" | "other_identity" | undefined;
}

/** The method with which a person signed in. */
export type SignInMethod = "api_key" | "open_id" | "sign_in_token" | "switch";

/** The browser that signs in. */
export interface Visit {
  readonly origin: CallOrigin;
  /** The browser's User-Agent header. */
  readonly userAgent: string;
  /**
   * The browser's previous session, if any. It ends, so that no one continues with a session that
   * others may know.
   */
  readonly before: Session | undefined;
}

/**
 * The maximum number of sessions of one member or key. A new session replaces the least recently
 * used one.
 */
const sessionsMax = 100;
const userAgentCharsMax = 300;

/** Returns `members/<id>` or `apiKeys/<id>`. */
export function actorOf(owner: SessionOwner): string {
  return "memberId" in owner ? `members/${owner.memberId}` : `apiKeys/${owner.apiKeyId}`;
}

/** Writes a session and its audit event in one commit, and deletes expired sessions. */
export async function openSession(
  { db, log }: { readonly db: Kysely<Tables>; readonly log: Log },
  made: Pick<NewSecretToken, "id" | "secretHash"> & {
    readonly owner: SessionOwner;
    readonly method: SignInMethod;
    readonly visit: Visit;
    /** A clock of tests. Default: that of the database. */
    readonly now: (() => number) | undefined;
  },
): Promise<void> {
  const { id, owner, method, visit, now } = made;
  const actor: Actor = {
    accountId: owner.accountId,
    actor: actorOf(owner),
    origin: visit.origin,
  };
  await audited({ db, log }, actor, async (trx, record) => {
    await makeRoom(trx, owner, now);
    await trx.insertInto("session").values(sessionRow(made)).execute();
    if ("memberId" in owner) {
      await trx
        .updateTable("member")
        .set({ last_sign_in_at: databaseTime(now) })
        .where("id", "=", owner.memberId)
        .execute();
    }
    await record({
      action: "session.create",
      resource: `sessions/${id}`,
      details: { way: method },
    });
  });
}

/** Ends a session if it has not ended yet. */
export async function endSession(
  parts: { readonly db: Kysely<Tables>; readonly log: Log },
  { id, accountId, actor }: Session,
  origin: CallOrigin,
): Promise<void> {
  await audited(parts, { accountId, actor, origin }, async (trx, record) => {
    const ended = await trx.deleteFrom("session").where("id", "=", id).executeTakeFirst();
    if (ended.numDeletedRows === 0n) return;
    await record({ action: "session.delete", resource: `sessions/${id}` });
  });
}

function sessionRow(made: Parameters<typeof openSession>[1]) {
  const { id, secretHash, owner, method, visit, now } = made;
  // Switching accounts does not count as a new sign-in. Otherwise a person could stay signed in
  // forever by switching.
  const end = method === "switch" ? visit.before?.expiresAt : undefined;
  const at = databaseTime(now);
  return {
    id,
    account_id: owner.accountId,
    member_id: "memberId" in owner ? owner.memberId : null,
    api_key_id: "apiKeyId" in owner ? owner.apiKeyId : null,
    secret_hash: secretHash,
    previous_hash: null,
    previous_until: null,
    rotated_at: at,
    created_at: at,
    last_used_at: at,
    expires_at: end ?? databaseTime(now, lifeMsMax),
    address: visit.origin.address,
    user_agent: visit.userAgent.replaceAll(/\p{Cc}/gu, " ").slice(0, userAgentCharsMax),
  };
}

async function makeRoom(
  db: Kysely<Tables>,
  owner: SessionOwner,
  now: (() => number) | undefined,
): Promise<void> {
  await db
    .deleteFrom("session")
    .where((row) =>
      row.or([
        row("expires_at", "<=", databaseTime(now)),
        row.and([
          row("account_id", "=", owner.accountId),
          row("last_used_at", "<=", databaseTime(now, -idleMsMax)),
        ]),
      ]),
    )
    .execute();
  const [column, id] =
    "memberId" in owner
      ? ["member_id" as const, owner.memberId]
      : ["api_key_id" as const, owner.apiKeyId];
  await db
    .deleteFrom("session")
    .where("id", "in", (query) =>
      query
        .selectFrom("session")
        .select("id")
        .where(column, "=", id)
        .orderBy("last_used_at", "desc")
        .orderBy("id", "desc")
        .offset(sessionsMax - 1),
    )
    .execute();
}
