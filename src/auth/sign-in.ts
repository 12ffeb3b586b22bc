import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import type { Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { parseApiKey } from "./api-key.ts";
import { audited, type Actor } from "./audit-log.ts";
import { memberOf, type Person } from "./find-member.ts";
import {
  actorOf,
  type Claim,
  type SessionOwner,
  type SignInWay,
  type Visit,
} from "./open-session.ts";
import { isDue } from "./refused-access.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";
import { secretMatches } from "./secret-token.ts";
import type { OpenedSession, Sessions } from "./sessions.ts";
import { takeSignInToken } from "./sign-in-token.ts";

/** What somebody shows to sign in to the console. */
export type Credentials =
  | { readonly way: "api_key"; readonly apiKey: string }
  | { readonly way: "sign_in_token"; readonly signInToken: string }
  | { readonly way: "open_id"; readonly person: Person }
  /** To another account of the member who is signed in. */
  | { readonly way: "switch"; readonly accountId: string };

/**
 * Signs in, or throws unauthenticated (reason SIGN_IN_REFUSED), permission_denied (NOT_A_MEMBER,
 * EMAIL_NOT_VERIFIED) or not_found.
 */
export type SignIn = (shown: Credentials, visit: Visit) => Promise<OpenedSession>;

export interface SignInParts {
  readonly db: Kysely<Tables>;
  readonly sessions: Sessions;
  readonly now?: () => number;
  /** Slows those who are refused: the same that slows tokens. */
  readonly attempts?: RefusedAttempts;
  readonly log: Log;
}

/**
 * The one way in: whatever is shown is checked here, and what is refused is noted where it is known
 * whose account it is about.
 */
export function createSignIn(parts: SignInParts): SignIn {
  const { db, sessions, now = Date.now, attempts } = parts;
  /**
   * When each refusal was last kept, the oldest first: others must not be able to fill an account's
   * audit log.
   */
  const kept = new Map<string, number>();
  const tryIt = async (shown: Credentials, visit: Visit): Promise<OpenedSession | undefined> => {
    const claims = await claimsOf(db, shown, visit, now());
    const owner = claims.find(({ problem }) => problem === undefined)?.owner;
    if (owner) return await sessions.open(owner, shown.way, visit);
    const due = claims.filter(({ owner: of, problem }) =>
      isDue(kept, `${actorOf(of)} ${shown.way} ${problem}`, now()),
    );
    await Promise.all(due.map((claim) => recordRefusal(parts, shown.way, claim, visit)));
    return undefined;
  };
  return async (shown, visit) => {
    const secret = secretOf(shown);
    const opened =
      secret === undefined || !attempts
        ? await tryIt(shown, visit)
        : await attempts.attempt(visit.origin.address, secret, () => tryIt(shown, visit));
    if (!opened) throw refused(shown);
    return opened;
  };
}

/** What can be guessed: who comes from the provider, or is signed in, has nothing of the kind. */
function secretOf(shown: Credentials): string | undefined {
  if (shown.way === "api_key") return shown.apiKey;
  return shown.way === "sign_in_token" ? shown.signInToken : undefined;
}

async function claimsOf(
  db: Kysely<Tables>,
  shown: Credentials,
  visit: Visit,
  now: number,
): Promise<readonly Claim[]> {
  if (shown.way === "api_key") return await ofApiKey(db, shown.apiKey, now);
  if (shown.way === "open_id") return await memberOf(db, shown.person);
  if (shown.way === "switch") return await sameMember(db, visit, shown.accountId);
  const taken = await takeSignInToken(db, shown.signInToken, now);
  if (!taken) return [];
  const { owner, isGood } = taken;
  return [isGood ? await inForce(db, owner, now) : { owner, problem: "wrong_secret" }];
}

async function ofApiKey(db: Kysely<Tables>, text: string, now: number): Promise<Claim[]> {
  const shown = parseApiKey(text);
  if (!shown) return [];
  const key = await db
    .selectFrom("api_key")
    .select(["account_id", "secret_hash"])
    .where("id", "=", shown.id)
    .executeTakeFirst();
  const isRight = secretMatches(shown.secret, key?.secret_hash);
  if (!key) return [];
  const owner = { accountId: key.account_id, apiKeyId: shown.id };
  if (!isRight) return [{ owner, problem: "wrong_secret" }];
  const claim = await inForce(db, owner, now);
  if (claim.problem === undefined) {
    await db
      .updateTable("api_key")
      .set({ last_used_at: new Date(Math.floor(now / 60_000) * 60_000) })
      .where("id", "=", shown.id)
      .execute();
  }
  return [claim];
}

/** Whether the account, and the key where it is one, may be used at all. */
async function inForce(db: Kysely<Tables>, owner: SessionOwner, now: number): Promise<Claim> {
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
 * The member of another account who is the one that is signed in: the same person at the same
 * provider.
 */
async function sameMember(
  db: Kysely<Tables>,
  { before }: Visit,
  accountId: string,
): Promise<Claim[]> {
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
  way: SignInWay,
  { owner, problem }: Claim,
  { origin }: Visit,
): Promise<void> {
  const actor: Actor = { accountId: owner.accountId, actor: actorOf(owner), origin };
  const details = { way, ...(problem !== undefined && { reason: problem }) };
  await audited(parts, actor, async (_trx, record) => {
    await record({ action: "sign_in.refused", resource: "", outcome: "REFUSED", details });
  });
}

/**
 * What of a refusal is told: never which of the reasons it was, nor whether such a key is there.
 */
function refused(shown: Credentials): ServiceError {
  const { way } = shown;
  if (way === "switch") {
    return new ServiceError("not_found", `there is no accounts/${shown.accountId} of yours`);
  }
  if (way === "open_id") {
    return shown.person.emailVerified
      ? new ServiceError("permission_denied", "nobody has invited this address to an account", {
          reason: "NOT_A_MEMBER",
        })
      : new ServiceError("permission_denied", "the provider has not verified this address", {
          reason: "EMAIL_NOT_VERIFIED",
        });
  }
  const what =
    way === "api_key"
      ? "this API key is wrong, expired or revoked"
      : "this link was used, or is too old";
  return new ServiceError("unauthenticated", what, { reason: "SIGN_IN_REFUSED" });
}
