import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import type { CallOrigin } from "./caller.ts";
import { keep } from "./kept-reads.ts";
import {
  endSession,
  openSession,
  type SessionOwner,
  type SignInWay,
  type Visit,
} from "./open-session.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";
import {
  newSecretToken,
  readSecretToken,
  secretMatches,
  type SecretTokenParts,
} from "./secret-token.ts";
import { keptSessions, type Session } from "./session-store.ts";

/** A session, with its secret: what the cookie is set to. */
export interface OpenedSession {
  readonly session: Session;
  readonly secret: string;
}

/** Browsers that are signed in to the console. */
export interface Sessions {
  /**
   * The session whose secret is shown, and another secret where it is time for one; undefined: it
   * holds no more, or never did. Throws resource_exhausted (TOO_MANY_REFUSED) where too much from
   * the address was refused.
   */
  check(
    shown: string,
    address?: string,
  ): Promise<{ session: Session; renewed: string | undefined } | undefined>;
  /** Signs somebody in; the session that the browser had before ends. */
  open(owner: SessionOwner, way: SignInWay, visit: Visit): Promise<OpenedSession>;
  end(session: Session, origin: CallOrigin): Promise<void>;
}

/** A secret is replaced by the first call that shows it after this. */
const secretMsMax = 3_600_000;
/**
 * The secret before stays good until the new one has been shown, and this long: for calls that were
 * on their way, and for a browser that never got the answer with the new one.
 */
const graceMs = 60_000;
const minuteMs = 60_000;

/** The form of a session's secret; it is no token, and is taken for none. */
const prefix = "session_";

export function createSessions(parts: {
  readonly db: Kysely<Tables>;
  readonly now?: () => number;
  /** Slows those whose secrets are refused. */
  readonly attempts?: RefusedAttempts;
  readonly log: Log;
}): Sessions {
  const { db, now = Date.now, attempts, log } = parts;
  const kept = keptSessions(db, now);
  const noted = new Map<string, number>();
  /**
   * Sessions that were good: they are looked at also where others from their address are refused.
   */
  const known = new Map<string, true>();

  /**
   * A row that is kept may be older than the secret: before it is refused, the row is read anew.
   */
  async function findShown(read: SecretTokenParts): Promise<Session | undefined> {
    const session = await kept.find(read.id);
    if (!session || knows(session, read.secret, now())) return session;
    kept.forget(read.id);
    const again = await kept.find(read.id);
    return again && knows(again, read.secret, now()) ? again : undefined;
  }

  async function noteUse({ id, lastUsedAt }: Session): Promise<void> {
    const minute = Math.floor(now() / minuteMs) * minuteMs;
    if (minute <= Math.max(noted.get(id) ?? 0, lastUsedAt.getTime())) return;
    keep(noted, id, minute);
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
      keep(known, session.id, true);
      // Nobody waits for it, and a call does not fail by it.
      noteUse(session).catch((error: unknown) => {
        log.warn(errorFields(error), "session.use_not_noted");
      });
      const { isChanged, renewed } = await renew(db, session, read.secret, now());
      if (isChanged) kept.forget(session.id);
      return { session, renewed };
    },
    async open(owner, way, visit) {
      const made = newSecretToken(prefix);
      const { before, origin } = visit;
      if (before) {
        await endSession(parts, before, origin);
        kept.forget(before.id);
      }
      await openSession(parts, { ...made, owner, way, visit, now: now() });
      const session = await kept.find(made.id);
      // Its member or key went in this moment.
      if (!session) throw signedOut();
      keep(known, made.id, true);
      return { session, secret: made.token };
    },
    async end(session, origin) {
      await endSession(parts, session, origin);
      kept.forget(session.id);
    },
  };
}

/** For whoever shows no session that holds. */
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
 * Replaces a secret when it is time: one is an hour old, or the one before is shown a minute after
 * it was replaced, so its successor never arrived. Of calls at the same time one gets the new
 * secret; the others go on with what they have.
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
