import { getOption, hasOption, type DescMethod } from "@bufbuild/protobuf";
import type { Kysely } from "kysely";
import type { Tables } from "../database/tables.ts";
import { access } from "../gen/hlust/api/annotations_pb.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { keyIdOf, verifyAccessToken } from "./access-token.ts";
import { looksLikeApiKey, parseApiKey, secretMatches } from "./api-key.ts";
import type { Caller, Scope } from "./caller.ts";
import { createKeyStore, type KeyStore } from "./key-store.ts";
import { shownToken, type CallFacts } from "./shown-tokens.ts";

/** Tells who calls, before any method runs. */
export interface Authenticator {
  /**
   * The caller of `method`. Throws unauthenticated (reason TOKEN_MISSING or TOKEN_INVALID), permission_denied when the key
   * lacks the method's scope, and invalid_argument when two different tokens are shown.
   */
  authenticate(request: CallFacts, method: DescMethod): Promise<Caller>;
}

export interface AuthenticatorParts {
  readonly db: Kysely<Tables>;
  /** What JWTs name as their audience; known once the service listens. */
  readonly publicUrl: () => string;
  readonly now?: () => number;
  readonly log: Log;
}

interface Checked {
  readonly caller: Caller;
  readonly noteUse: () => Promise<void>;
}

/** Verified JWTs kept, so that a client's next call costs no signature check. */
const verifiedMax = 10_000;

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { db, publicUrl, now = Date.now, log } = parts;
  const keys = createKeyStore(db, now);
  const checkJwt = createJwtCheck(keys, publicUrl, now, log);

  return {
    async authenticate(request, method) {
      const { scope, tokenParameter } = accessOf(method);
      const token = shownToken(request, tokenParameter);
      if (token === undefined) throw unauthenticated("TOKEN_MISSING");
      const checked = looksLikeApiKey(token)
        ? await checkApiKey(token, keys, now)
        : await checkJwt(token);
      if (!checked) throw unauthenticated("TOKEN_INVALID");
      const { caller, noteUse } = checked;
      // Nobody waits for it, and a call does not fail by it.
      noteUse().catch((error: unknown) => log.warn(errorFields(error), "auth.use_not_noted"));
      if (scope !== "" && !hasScope(caller, scope)) {
        throw new ServiceError(
          "permission_denied",
          `the key that this token belongs to lacks the scope ${scope}`,
          { reason: "SCOPE_MISSING", metadata: { scope } },
        );
      }
      return caller;
    },
  };
}

interface MethodAccess {
  readonly scope: string;
  readonly tokenParameter: boolean;
}

/** Read once: an option is decoded each time it is asked for, which takes longer than all else here. */
const knownAccess = new WeakMap<DescMethod, MethodAccess>();

/** A method that does not say who may call it is a bug of the contract: nobody may. */
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

function hasScope(caller: Caller, scope: string): boolean {
  const held: ReadonlySet<string> = caller.scopes;
  return held.has(scope);
}

/** One sentence for all of missing, malformed, wrong, expired and revoked. */
function unauthenticated(reason: "TOKEN_MISSING" | "TOKEN_INVALID"): ServiceError {
  return new ServiceError(
    "unauthenticated",
    "a valid token is needed: an API key, or a JWT signed with a registered client key",
    { reason },
  );
}

async function checkApiKey(
  token: string,
  keys: KeyStore,
  now: () => number,
): Promise<Checked | undefined> {
  const shown = parseApiKey(token);
  if (!shown) return undefined;
  const key = await keys.apiKey(shown.id);
  if (!secretMatches(shown.secret, key?.secretHash) || !key) return undefined;
  if (key.expiresAt && key.expiresAt.getTime() <= now()) return undefined;
  return checked("api_key", key, keys);
}

function createJwtCheck(
  keys: KeyStore,
  publicUrl: () => string,
  now: () => number,
  log: Log,
): (token: string) => Promise<Checked | undefined> {
  /** When each verified token ends. Its key is looked up anew each time: a revoked key ends its tokens. */
  const verified = new Map<string, number>();
  return async (token) => {
    const keyId = keyIdOf(token);
    const key = keyId === undefined ? undefined : await keys.clientKey(keyId);
    if (!key) return undefined;
    const endsAt = verified.get(token);
    if (endsAt === undefined) {
      try {
        const options = { audience: publicUrl(), now: now() };
        verified.set(token, await verifyAccessToken(token, key, options));
      } catch (error) {
        // For whoever wonders why their token is refused: the caller is not told.
        const reason = error instanceof Error ? error.message : String(error);
        log.info({ keyId, reason }, "auth.jwt_refused");
        return undefined;
      }
      if (verified.size > verifiedMax) dropOldest(verified);
    } else if (endsAt <= now()) {
      verified.delete(token);
      return undefined;
    }
    return checked("client_key", key, keys);
  };
}

function dropOldest(entries: Map<string, unknown>): void {
  for (const oldest of entries.keys()) {
    entries.delete(oldest);
    return;
  }
}

function checked(
  table: "api_key" | "client_key",
  key: { id: string; accountId: string; scopes: ReadonlySet<Scope>; lastUsedAt: Date | null },
  keys: KeyStore,
): Checked {
  return {
    caller: { accountId: key.accountId, keyId: key.id, scopes: key.scopes },
    noteUse: () => keys.noteUse(table, key),
  };
}
