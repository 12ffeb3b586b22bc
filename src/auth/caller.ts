import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../std/service-error.ts";

/** The scopes of keys, which determine what a key may do (docs/api.md, Access). */
export const scopes = [
  "transcripts.read",
  "transcripts.write",
  "speech",
  "account",
  "operator",
] as const;
export type Scope = (typeof scopes)[number];

/** The scopes within an account. The other one, `operator`, concerns the whole service. */
export const accountScopes = scopes.filter((scope) => scope !== "operator");

/** The roles of members of an account. */
export const roles = ["OWNER", "MEMBER", "VIEWER"] as const;
export type Role = (typeof roles)[number];

/** The scopes of each role. No role includes `operator`. */
export const scopesOfRole: Readonly<Record<Role, ReadonlySet<Scope>>> = {
  OWNER: new Set(accountScopes),
  MEMBER: new Set(["transcripts.read", "transcripts.write", "speech"] as const),
  VIEWER: new Set(["transcripts.read"] as const),
};

/** Returns the scopes of a member. Only the command line makes a member an operator. */
export function scopesOfMember(role: Role, isOperator: boolean): ReadonlySet<Scope> {
  const held = scopesOfRole[role];
  return isOperator ? new Set([...held, "operator"]) : held;
}

/** The origin of a call, and the id of the call in logs and the audit log. */
export interface CallOrigin {
  /** The caller's IP address. */
  readonly address: string;
  readonly requestId: string;
}

/**
 * The credential that authenticates a caller. While a stream is open, the credential is checked
 * again; the stream ends when the credential is no longer valid.
 */
export interface Credential {
  readonly kind: "api_key" | "client_key" | "session";
  readonly id: string;
}

/**
 * The caller: the account, which owns everything that is created and read, and the actor in the
 * account.
 */
export interface Caller {
  readonly accountId: string;
  /** `apiKeys/<id>`, `clientKeys/<id>` or `members/<id>`. */
  readonly actor: string;
  /**
   * The console session, or else the key. With a stream token, it is the credential with which the
   * token was created.
   */
  readonly credential: Credential;
  /** The API key or client key whose limits apply; undefined for members. */
  readonly keyId: string | undefined;
  /** The role of a member; undefined for keys. */
  readonly role: Role | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly origin: CallOrigin;
}

/** The context value in which the doors pass the caller to methods. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "the authenticated caller",
});

/**
 * Returns the caller of a method. Every door authenticates first; a call without a caller is
 * refused.
 */
export function callerOf(context: Pick<HandlerContext, "values">): Caller {
  const caller = context.values.get(callerKey);
  if (!caller) throw new ServiceError("unauthenticated", "this method requires a token");
  return caller;
}
