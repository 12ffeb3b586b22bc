import type { Kysely } from "kysely";
import { LRUCache } from "lru-cache";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import type { CallOrigin } from "./caller.ts";
import { cachedMax } from "./cached-reads.ts";
import {
  endSession,
  openSession,
  type SessionOwner,
  type SignInMethod,
  type Visit,
} from "./open-session.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";
import {
  newSecretToken,
  readSecretToken,
  secretMatches,
  type SecretTokenParts,
} from "./secret-token.ts";
import { cachedSessions, type Session } from "./session-store.ts";

/** A session with the secret that becomes the value of the cookie. */
export interface OpenedSession {
  readonly session: Session;
  readonly secret: string;
}

/** The sessions of browsers that are signed in to the console. */
export interface Sessions {
  /**
   * Returns the session with this secret, and a new secret if the old one is due for replacement;
   * undefined if the session has ended or never existed. Throws resource_exhausted
   * (TOO_MANY_REFUSED) after too many refused secrets from the address.
   */
  check(
    shown: string,
    address?: string,
  ): Promise<{ session: Session; renewed: string | undefined } | undefined>;
  /** Opens a session, and ends the browser's previous session. */
  open(owner: SessionOwner, method: SignInMethod, visit: Visit): Promise<OpenedSession>;
  end(session: Session, origin: CallOrigin): Promise<void>;
}

/** The first call with a secret that is older than this replaces the secret. */
const secretMsMax = 3_600_000;
/**
 * How long the previous secret stays valid after the first use of the new one: for calls in flight,
 * and for a browser that never received the response with the new secret.
 */
const graceMs = 60_000;
const minuteMs = 60_000;

/** The prefix of a session's secret. The secret is not a token, and is not accepted as one. */
const prefix = "session_";

export function createSessions(parts: {
  readonly db: Kysely<Tables>;
  readonly now?: () => number;
  /** The rate limit for addresses whose secrets are refused. */
  readonly attempts?: RefusedAttempts;
  readonly log: Log;
}): Sessions {
  const { db, now = Date.now, attempts, log } = parts;
  const cache = cachedSessions(db, parts.now);
  /** Returns the time by the clock of the database. */
  const timeOf = ({ clockAheadMs }: Session): number => now() + clockAheadMs;
  const noted = new LRUCache<string, number>({ max: cachedMax });
  /**
   * Sessions that have been valid. Their secrets are checked even while other secrets from the
   * address are refused.
   */
  const known = new LRUCache<string, true>({ max: cachedMax });

  /**
   * Finds the session with a secret. A cached row may be older than the secret, so the row is read
   * again before the secret is refused.
   */
  async function findShown(read: SecretTokenParts): Promise<Session | undefined> {
    const session = await cache.find(read.id);
    if (!session || knows(session, read.secret, timeOf(session))) return session;
    cache.forget(read.id);
    const again = await cache.find(read.id);
    return again && knows(again, read.secret, timeOf(again)) ? again : undefined;
  }

  async function noteUse(session: Session): Promise<void> {
    const { id, lastUsedAt } = session;
    const minute = Math.floor(timeOf(session) / minuteMs) * minuteMs;
    if (minute <= Math.max(noted.get(id) ?? 0, lastUsedAt.getTime())) return;
    noted.set(id, minute);
    const at = new Date(minute);
    await db
      .updateTable("session")
      .set({ last_used_at: at })
      .where("id", "=", id)
      .where("last_used_at", "<", at)
      .execute();
  }

  return {
    async check(shown, address = "") {
      const read = readSecretToken(prefix, shown);
      if (!read) return undefined;
      const find = async () => await findShown(read);
      const session = attempts
        ? await attempts.attempt(address, shown, find, known.has(read.id))
        : await find();
      if (!session) return undefined;
      known.set(session.id, true);
      // The call does not wait for this write, and does not fail if it fails.
      noteUse(session).catch((error: unknown) => {
        log.warn(errorFields(error), "session.use_not_noted");
      });
      const { isChanged, renewed } = await renew(db, session, read.secret, timeOf(session));
      if (isChanged) cache.forget(session.id);
      return { session, renewed };
    },
    async open(owner, method, visit) {
      const made = newSecretToken(prefix);
      const { before, origin } = visit;
      if (before) {
        await endSession(parts, before, origin);
        cache.forget(before.id);
      }
      await openSession(parts, { ...made, owner, method, visit, now: parts.now });
      const session = await cache.find(made.id);
      // The member or key was deleted in the meantime.
      if (!session) throw signedOut();
      known.set(made.id, true);
      return { session, secret: made.token };
    },
    async end(session, origin) {
      await endSession(parts, session, origin);
      cache.forget(session.id);
    },
  };
}

/** Returns the error for a call without a valid session. */
export function signedOut(): ServiceError {
  return new ServiceError("unauthenticated", "sign in to the console first", {
    reason: "SIGNED_OUT",
  });
}

function knows(session: Session, secret: string, now: number): boolean {
  return secretMatches(secret, session.secretHash) || knowsPrevious(session, secret, now);
}

function knowsPrevious(
  { previousHash, previousUntil }: Session,
  secret: string,
  now: number,
): boolean {
  const isGood = previousUntil === null || now < previousUntil.getTime();
  return secretMatches(secret, previousHash) && isGood;
}

/**
 * Replaces a secret that is an hour old. A secret that was replaced more than a minute ago but is
 * still in use is also replaced, because the browser never received its successor. Only one of
 * several concurrent calls gets the new secret; the others keep theirs.
 */
async function renew(
  db: Kysely<Tables>,
  session: Session,
  secret: string,
  now: number,
): Promise<{ readonly isChanged: boolean; readonly renewed: string | undefined }> {
  const { id, secretHash, previousHash, previousUntil, rotatedAt } = session;
  const age = now - rotatedAt.getTime();
  const isNewest = secretMatches(secret, secretHash);
  const row = db.updateTable("session").where("id", "=", id).where("rotated_at", "=", rotatedAt);
  if (isNewest ? age >= secretMsMax : age >= graceMs && previousUntil === null) {
    const made = newSecretToken(prefix, id);
    const { numUpdatedRows } = await row
      .set({
        secret_hash: made.secretHash,
        previous_hash: isNewest ? secretHash : previousHash,
        previous_until: null,
        rotated_at: new Date(now),
      })
      .executeTakeFirst();
    return { isChanged: true, renewed: numUpdatedRows > 0n ? made.token : undefined };
  }
  const isArrived = isNewest && previousHash !== null && previousUntil === null;
  if (isArrived) await row.set({ previous_until: new Date(now + graceMs) }).execute();
  return { isChanged: isArrived, renewed: undefined };
}
