import { createContextKey, type HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../std/service-error.ts";

/** What a key may do (decisions: Access). */
export const scopes = ["transcripts.read", "transcripts.write", "speech", "account"] as const;
export type Scope = (typeof scopes)[number];

/** What a member of an account is. */
export const roles = ["OWNER", "MEMBER", "VIEWER"] as const;
export type Role = (typeof roles)[number];

/** What each role may do. */
export const scopesOfRole: Readonly<Record<Role, ReadonlySet<Scope>>> = {
  OWNER: new Set(scopes),
  MEMBER: new Set(["transcripts.read", "transcripts.write", "speech"] as const),
  VIEWER: new Set(["transcripts.read"] as const),
};

/** Where a call comes from, and what it is called in logs and the audit log. */
export interface CallOrigin {
  /** The caller's IP address. */
  readonly address: string;
  readonly requestId: string;
}

/**
 * What a caller is known by: while a stream is open it is looked for again, and without it the
 * stream ends.
 */
export interface Credential {
  readonly kind: "api_key" | "client_key" | "session";
  readonly id: string;
}

/** Who calls: the account that owns what is made and seen, and who of it. */
export interface Caller {
  readonly accountId: string;
  /** `apiKeys/<id>`, `clientKeys/<id>` or `members/<id>`. */
  readonly actor: string;
  /**
   * The session of whoever signed in to the console, else the key. Of a stream token: what it was
   * made with.
   */
  readonly credential: Credential;
  /** The API key or client key whose limits hold; undefined for members. */
  readonly keyId: string | undefined;
  /** undefined for keys. */
  readonly role: Role | undefined;
  readonly scopes: ReadonlySet<Scope>;
  readonly origin: CallOrigin;
}

/** Where the doors put the caller before a method runs. */
export const callerKey = createContextKey<Caller | undefined>(undefined, {
  description: "the authenticated caller",
});

/** The caller of a method. Every door authenticates first; without it the call is refused. */
export function callerOf(context: Pick<HandlerContext, "values">): Caller {
  const caller = context.values.get(callerKey);
  if (!caller) throw new ServiceError("unauthenticated", "this method needs a token");
  return caller;
}
