import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { keyMatches, parseApiKey } from "./api-key.ts";
import { audited, type Actor } from "./audit-log.ts";
import { memberOf, type Person } from "./find-member.ts";
import {
  actorOf,
  type CheckedOwner,
  type SessionOwner,
  type SignInMethod,
  type Visit,
} from "./open-session.ts";
import { isDue } from "./refused-access.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";

import type { OpenedSession, Sessions } from "./sessions.ts";
import { takeSignInToken } from "./sign-in-token.ts";

/** The credentials that a person presents to sign in to the console. */
export type Credentials =
  | { readonly method: "api_key"; readonly apiKey: string }
  | { readonly method: "sign_in_token"; readonly signInToken: string }
  | { readonly method: "open_id"; readonly person: Person }
  /** Switches to another account of the signed-in member. */
  | { readonly method: "switch"; readonly accountId: string };

/**
 * Signs in, or throws unauthenticated (reason SIGN_IN_REFUSED), permission_denied (NOT_A_MEMBER,
 * EMAIL_NOT_VERIFIED) or not_found.
 */
export type SignIn = (shown: Credentials, visit: Visit) => Promise<OpenedSession>;

export interface SignInParts {
  readonly db: Kysely<Tables>;
  readonly sessions: Sessions;
  readonly now?: () => number;
  /** The rate limit for refused attempts: the same limit as for tokens. */
  readonly attempts?: RefusedAttempts;
  readonly log: Log;
}

/**
 * Creates the function behind all sign-in methods. It checks credentials, and records refusals in
 * the audit log of the account concerned, if that account is known.
 */
export function createSignIn(parts: SignInParts): SignIn {
  const { sessions, now = Date.now, attempts } = parts;
  /**
   * The time at which each refusal was last recorded, in order of time. Outsiders must not be able
   * to fill an account's audit log.
   */
  const recorded = new Map<string, number>();
  const attempt = async (shown: Credentials, visit: Visit): Promise<OpenedSession | undefined> => {
    const checked = await checkOwners(parts, shown, visit);
    const owner = checked.find(({ problem }) => problem === undefined)?.owner;
    if (owner) return await sessions.open(owner, shown.method, visit);
    const due = checked.filter(({ owner: of, problem }) =>
      isDue(recorded, `${actorOf(of)} ${shown.method} ${problem}`, now()),
    );
    await Promise.all(due.map((each) => recordRefusal(parts, shown.method, each, visit)));
    return undefined;
  };
  return async (shown, visit) => {
    const secret = secretOf(shown);
    const opened =
      secret === undefined || !attempts
        ? await attempt(shown, visit)
        : await attempts.attempt(visit.origin.address, secret, () => attempt(shown, visit));
    if (!opened) throw refused(shown);
    return opened;
  };
}

/**
 * Returns the secret that could be guessed, or undefined: sign-in at the provider and switching use
 * none.
 */
function secretOf(shown: Credentials): string | undefined {
  if (shown.method === "api_key") return shown.apiKey;
  return shown.method === "sign_in_token" ? shown.signInToken : undefined;
}

async function checkOwners(
  { db, now: clock }: Pick<SignInParts, "db" | "now">,
  shown: Credentials,
  visit: Visit,
): Promise<readonly CheckedOwner[]> {
  const now = clock?.() ?? Date.now();
  if (shown.method === "api_key") return await ofApiKey(db, shown.apiKey, now);
  if (shown.method === "open_id") return await memberOf(db, shown.person);
  if (shown.method === "switch") return await sameMember(db, visit, shown.accountId);
  const taken = await takeSignInToken(db, shown.signInToken, clock);
  if (!taken) return [];
  const { owner, isGood } = taken;
  return [isGood ? await inForce(db, owner, now) : { owner, problem: "wrong_secret" }];
}

async function ofApiKey(db: Kysely<Tables>, text: string, now: number): Promise<CheckedOwner[]> {
  const shown = parseApiKey(text);
  if (!shown) return [];
  const key = await db
    .selectFrom("api_key")
    .select([
      "account_id",
      "secret_hash as secretHash",
      "previous_secret_hash as previousHash",
      "previous_secret_until as previousUntil",
    ])
    .where("id", "=", shown.id)
    .executeTakeFirst();
  const isRight = keyMatches(shown.secret, key, now);
  if (!key) return [];
  const owner = { accountId: key.account_id, apiKeyId: shown.id };
  if (!isRight) return [{ owner, problem: "wrong_secret" }];
  const checked = await inForce(db, owner, now);
  if (checked.problem === undefined) {
    await db
      .updateTable("api_key")
      .set({ last_used_at: new Date(Math.floor(now / 60_000) * 60_000) })
      .where("id", "=", shown.id)
      .execute();
  }
  return [checked];
}

/** Returns whether the account can be used, and also the key if the owner is a key. */
async function inForce(
  db: Kysely<Tables>,
  owner: SessionOwner,
  now: number,
): Promise<CheckedOwner> {
  const account = await db
    .selectFrom("account")
    .select("disabled_at")
    .where("id", "=", owner.accountId)
    .executeTakeFirst();
  if (account?.disabled_at !== null) return { owner, problem: "account_disabled" };
  if ("memberId" in owner) return { owner };
  const key = await db
    .selectFrom("api_key")
    .select("expires_at")
    .where("id", "=", owner.apiKeyId)
    .executeTakeFirst();
  const isOver = !key || (key.expires_at && key.expires_at.getTime() <= now);
  return isOver ? { owner, problem: "expired" } : { owner };
}

/**
 * Returns the member in another account who is the same person at the same provider as the
 * signed-in member.
 */
async function sameMember(
  db: Kysely<Tables>,
  { before }: Visit,
  accountId: string,
): Promise<CheckedOwner[]> {
  if (!before) return [];
  const members = await db
    .selectFrom("member")
    .innerJoin("account", "account.id", "member.account_id")
    .innerJoin("member as signed_in", (join) =>
      join
        .onRef("signed_in.issuer", "=", "member.issuer")
        .onRef("signed_in.subject", "=", "member.subject"),
    )
    .select(["member.id", "account.disabled_at"])
    .where("signed_in.id", "in", (query) =>
      query.selectFrom("session").select("member_id").where("id", "=", before.id),
    )
    .where("member.account_id", "=", accountId)
    .execute();
  return members.map(({ id, disabled_at }) => ({
    owner: { accountId, memberId: id },
    problem: disabled_at === null ? undefined : "account_disabled",
  }));
}

async function recordRefusal(
  parts: SignInParts,
  method: SignInMethod,
  { owner, problem }: CheckedOwner,
  { origin }: Visit,
): Promise<void> {
  const actor: Actor = { accountId: owner.accountId, actor: actorOf(owner), origin };
  const details = { way: method, ...(problem !== undefined && { reason: problem }) };
  await audited(parts, actor, async (_trx, record) => {
    await record({ action: "sign_in.refused", resource: "", outcome: "REFUSED", details });
  });
}

/**
 * Returns the error for a refusal. The error never reveals the reason, nor whether such a key
 * exists.
 */
function refused(shown: Credentials): ServiceError {
  const { method } = shown;
  if (method === "switch") {
    return new ServiceError(
      "not_found",
      `you are not a member of accounts/${shown.accountId}, or it does not exist`,
    );
  }
  if (method === "open_id") {
    return shown.person.emailVerified
      ? new ServiceError("permission_denied", "this address was not invited to any account", {
          reason: "NOT_A_MEMBER",
        })
      : new ServiceError("permission_denied", "the provider has not verified this address", {
          reason: "EMAIL_NOT_VERIFIED",
        });
  }
  const what =
    method === "api_key"
      ? "this API key is wrong, expired or revoked"
      : "this link was used already, or has expired";
  return new ServiceError("unauthenticated", what, { reason: "SIGN_IN_REFUSED" });
}
