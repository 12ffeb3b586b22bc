import { hash } from "node:crypto";
import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import { LRUCache } from "lru-cache";
import type { Tables } from "../database/tables.ts";
import { access } from "../gen/hlust/api/annotations_pb.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { keyIdOf, tokenLengthMax, verifyAccessToken } from "./access-token.ts";
import { keyMatches, looksLikeApiKey, parseApiKey } from "./api-key.ts";
import type { Caller, Scope } from "./caller.ts";
import { CredentialWatch } from "./credential-watch.ts";
import { createKeyStore, type KeyStore } from "./key-store.ts";
import { createRefusedAccess, type NoteRefusedAccess } from "./refused-access.ts";
import type { RefusedAttempts } from "./refused-attempts.ts";
import type { Session } from "./session-store.ts";
import { severalTokens, shownToken, type CallFacts } from "./shown-tokens.ts";
import { looksLikeStreamToken, takeStreamToken } from "./stream-token.ts";

/** Identifies the caller, before any method runs. */
export interface Authenticator {
  /**
   * Returns the caller of `method`. Throws unauthenticated (reason TOKEN_MISSING or TOKEN_INVALID),
   * permission_denied if the key lacks the method's scope, invalid_argument if the call has two
   * different tokens, and resource_exhausted (TOO_MANY_REFUSED) if too many tokens from the address
   * were refused.
   */
  authenticate(request: CallFacts, method: DescMethod): Promise<Caller>;
  /**
   * Watches the credential of an open stream until the result is disposed of. Calls `end` once, at
   * most about 1.5 s after the credential is revoked, expires, or loses the right to call `method`.
   */
  watch(caller: Caller, method: DescMethod, end: (reason: ServiceError) => void): Disposable;
}

export interface AuthenticatorParts {
  readonly db: Kysely<Tables>;
  /** The audience that JWTs must name, which is known once the service listens. */
  readonly publicUrl: () => string;
  readonly now?: () => number;
  /** The rate limit for addresses whose tokens are refused. */
  readonly attempts?: RefusedAttempts;
  readonly log: Log;
}

interface Checked {
  readonly caller: Omit<Caller, "origin">;
  readonly noteUse: () => Promise<void> | undefined;
}

/**
 * The maximum number of verified JWTs that are kept, so that a client's next call needs no
 * signature check.
 */
const verifiedMax = 10_000;
/**
 * The maximum number of keys and JWTs that are remembered as valid. They are checked even while
 * other tokens from their address are refused.
 */
const knownMax = 10_000;

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { db, publicUrl, now = Date.now, attempts, log } = parts;
  const keys = createKeyStore(db, now);
  const checkJwt = createJwtCheck(keys, publicUrl, now, log);
  const noteRefused = createRefusedAccess({ db, now, log });
  const watch = new CredentialWatch(db, log);
  const known = new LRUCache<string, true>({ max: knownMax });
  const check = (token: string, request: CallFacts): Promise<Checked | undefined> => {
    if (looksLikeStreamToken(token)) return checkStreamToken(token, request, db);
    return looksLikeApiKey(token) ? checkApiKey(token, keys, now) : checkJwt(token);
  };
  const checkWithLimit = async (token: string, request: CallFacts) => {
    if (!attempts) return await check(token, request);
    const { address } = request.origin;
    // A stream token works only once, so it is not remembered.
    const name = looksLikeStreamToken(token) ? undefined : knownAs(token);
    const isKnown = name !== undefined && known.has(name);
    // The fast path of nearly all calls.
    const good = isKnown ? await check(token, request) : undefined;
    if (good) return good;
    const checkNew = async () => (isKnown ? undefined : await check(token, request));
    const checked = await attempts.attempt(address, token, checkNew, isKnown);
    if (checked && name !== undefined) known.set(name, true);
    return checked;
  };

  const callerByToken = async (request: CallFacts, method: DescMethod): Promise<Caller> => {
    const token = shownToken(request, {
      alsoInUrl: accessOf(method).tokenParameter,
      alsoAsKey: accessOf(method).keyParameter,
    });
    if (token === undefined) throw unauthenticated("TOKEN_MISSING");
    const checked = await checkWithLimit(token, request);
    if (!checked) throw unauthenticated("TOKEN_INVALID");
    const { noteUse } = checked;
    // The call does not wait for this write, and does not fail if it fails.
    noteUse()?.catch((error: unknown) => log.warn(errorFields(error), "auth.use_not_noted"));
    return { ...checked.caller, origin: request.origin };
  };

  return {
    async authenticate(request, method) {
      const caller = request.session
        ? callerBySession(request, request.session)
        : await callerByToken(request, method);
      refuseWithoutScope(caller, method, noteRefused);
      return caller;
    },
    watch: ({ credential }, method, end) =>
      watch.add({ credential, scope: accessOf(method).scope, end }),
  };
}

interface MethodAccess {
  readonly scope: string;
  readonly tokenParameter: boolean;
  readonly keyParameter: boolean;
}

/**
 * The options of methods are cached, since each read of an option decodes it, which takes longer
 * than the rest of the check.
 */
const knownAccess = new WeakMap<DescMethod, MethodAccess>();

/**
 * Returns the access option of a method. A method without the option is a bug in the contract, and
 * cannot be called.
 */
function accessOf(method: DescMethod): MethodAccess {
  const known = knownAccess.get(method);
  if (known) return known;
  if (!hasOption(method, access)) {
    throw new Error(`${method.parent.typeName}.${method.name} has no option hlust.api.access`);
  }
  const found = getOption(method, access);
  knownAccess.set(method, found);
  return found;
}

/**
 * Returns the caller of a session. A call with a session must not also have a token, since it would
 * be unclear which of them counts.
 */
function callerBySession(request: CallFacts, session: Session): Caller {
  if (shownToken(request, { alsoInUrl: true }) !== undefined) throw severalTokens();
  const { accountId, actor, credential, keyId, role, scopes } = session;
  return { accountId, actor, credential, keyId, role, scopes, origin: request.origin };
}

/**
 * Throws permission_denied if the caller lacks the scope that the method requires, and records the
 * refusal in the audit log.
 */
function refuseWithoutScope(
  caller: Caller,
  method: DescMethod,
  noteRefused: NoteRefusedAccess,
): void {
  const { scope } = accessOf(method);
  const held: ReadonlySet<string> = caller.scopes;
  if (scope === "" || held.has(scope)) return;
  noteRefused(caller, method, scope);
  const who = caller.role === undefined ? "the key that this token belongs to" : "your role";
  throw new ServiceError("permission_denied", `${who} lacks the scope ${scope}`, {
    reason: "SCOPE_MISSING",
    metadata: { scope },
  });
}

/**
 * Returns the error for missing, malformed, wrong, expired and revoked tokens, always with the same
 * message.
 */
function unauthenticated(reason: "TOKEN_MISSING" | "TOKEN_INVALID"): ServiceError {
  return new ServiceError(
    "unauthenticated",
    "a valid token is required: an API key, or a JWT signed with a registered client key",
    { reason },
  );
}

async function checkStreamToken(
  token: string,
  { isWebSocket = false }: CallFacts,
  db: Kysely<Tables>,
): Promise<Checked | undefined> {
  const caller = isWebSocket ? await takeStreamToken(db, token) : undefined;
  // The use of the key was recorded when the stream token was created.
  return caller && { caller, noteUse: () => undefined };
}

async function checkApiKey(
  token: string,
  keys: KeyStore,
  now: () => number,
): Promise<Checked | undefined> {
  const shown = parseApiKey(token);
  if (!shown) return undefined;
  const key = await keys.apiKey(shown.id);
  if (!keyMatches(shown.secret, key, now()) || !key) return undefined;
  if (isExpired(key, now)) return undefined;
  return checked("api_key", key, keys);
}

function isExpired({ expiresAt }: { expiresAt: Date | null }, now: () => number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= now();
}

function createJwtCheck(
  keys: KeyStore,
  publicUrl: () => string,
  now: () => number,
  log: Log,
): (token: string) => Promise<Checked | undefined> {
  /**
   * Verified tokens by their hash: the id of the key and the time at which the token expires. The
   * key is read again each time, since a revoked key ends its tokens.
   */
  const verified = new LRUCache<string, { readonly keyId: string; readonly endsAt: number }>({
    max: verifiedMax,
  });
  return async (token) => {
    if (token.length > tokenLengthMax) return undefined;
    const digest = hash("sha256", token, "base64");
    const known = verified.get(digest);
    const keyId = known?.keyId ?? keyIdOf(token);
    const key = keyId === undefined ? undefined : await keys.clientKey(keyId);
    if (!key || keyId === undefined || isExpired(key, now)) return undefined;
    if (!known) {
      try {
        const options = { audience: publicUrl(), now: now() };
        verified.set(digest, { keyId, endsAt: verifyAccessToken(token, key, options) });
      } catch (error) {
        // Only the operator receives the reason; the caller does not.
        const reason = error instanceof Error ? error.message : String(error);
        log.info({ keyId, reason }, "auth.jwt_refused");
        return undefined;
      }
    } else if (known.endsAt <= now()) {
      verified.delete(digest);
      return undefined;
    }
    return checked("client_key", key, keys);
  };
}

/** The length of a secret, including the underscore before it. */
const secretLength = 44;

/**
 * Returns the name under which a valid token is remembered: an API key without its secret, or the
 * hash of a JWT, which may be long.
 */
function knownAs(token: string): string {
  return looksLikeApiKey(token) ? token.slice(0, -secretLength) : hash("sha256", token, "base64");
}

function checked(
  table: "api_key" | "client_key",
  key: { id: string; accountId: string; scopes: ReadonlySet<Scope>; lastUsedAt: Date | null },
  keys: KeyStore,
): Checked {
  return {
    caller: {
      accountId: key.accountId,
      actor: `${table === "api_key" ? "apiKeys" : "clientKeys"}/${key.id}`,
      credential: { kind: table, id: key.id },
      keyId: key.id,
      role: undefined,
      scopes: key.scopes,
    },
    noteUse: () => keys.noteUse(table, key),
  };
}
