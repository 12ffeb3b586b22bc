import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../std/service-error.ts";

/** What a key may do (docs/api.md, Access). */
export const scopes = ["transcripts.read", "transcripts.write", "speech", "account"] as const;
export type Scope = (typeof scopes)[number];

/** The roles of members of an account. */
export const roles = ["OWNER", "MEMBER", "VIEWER"] as const;
export type Role = (typeof roles)[number];

/** What each role may do. */
export const scopesOfRole: Readonly<Record<Role, ReadonlySet<Scope>>> = {
  OWNER: new Set(scopes),
  MEMBER: new Set(["transcripts.read", "transcripts.write", "speech"] as const),
  VIEWER: new Set(["transcripts.read"] as const),
};

/** Where a call comes from, and its id in logs and the audit log. */
export interface CallOrigin {
  /** The caller's IP address. */
  readonly address: string;
  readonly requestId: string;
}

/**
 * What a caller is authenticated by. While a stream is open it is checked again; the stream ends
 * when it is no longer valid.
 */
export interface Credential {
  readonly kind: "api_key" | "client_key" | "session";
  readonly id: string;
}

/** Who calls: the account, which owns everything that is created and read, and the actor in it. */
export interface Caller {
  readonly accountId: string;
  /** `apiKeys/<id>`, `clientKeys/<id>` or `members/<id>`. */
  readonly actor: string;
  /**
   * The console session, or else the key. With a stream token it is the credential that the token
   * was created with.
   */
  readonly credential: Credential;
  /** The API key or client key whose limits apply; undefined for members. */
  readonly keyId: string | undefined;
  /** undefined for keys. */
  readonly role: Role | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly origin: CallOrigin;
}

/** The context value in which the doors pass the caller to methods. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "the authenticated caller",
});

/** The caller of a method. Every door authenticates first; without a caller the call is refused. */
export function callerOf(context: Pick<HandlerContext, "values">): Caller {
  const caller = context.values.get(callerKey);
  if (!caller) throw new ServiceError("unauthenticated", "this method requires a token");
  return caller;
}
