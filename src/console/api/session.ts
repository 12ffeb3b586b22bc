import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import { callConsole } from "./call-api.ts";
import { keepingLanguageAndTheme } from "./kept.ts";

/** The signed-in user, as /console/session returns it (docs/console.md). */
export interface Session {
  readonly name: string;
  readonly actor: string;
  readonly displayName: string;
  readonly role?: Role;
  readonly scopes: readonly string[];
  readonly account: Account;
  readonly accounts: readonly Account[];
  /** The sign-in methods of the service. */
  readonly signInWays: readonly SignInWay[];
  readonly expireTime: string;
}

/** A sign-in method. "mail": people can request a link by mail. */
type SignInWay = "apiKey" | "openId" | "mail";

/** The roles of members, from the most to the fewest permissions. */
export const roles = ["OWNER", "MEMBER", "VIEWER"] as const;
export type Role = (typeof roles)[number];

interface Account {
  readonly name: string;
  readonly displayName: string;
  readonly role?: Role;
}

/** The answer of /console/session if no one is signed in. */
export interface SignedOut {
  /** The sign-in methods; empty if browsers do not keep a session at this address. */
  readonly signInWays: readonly SignInWay[];
  /** The email address or URL at which people can ask for access, if the operator has set it. */
  readonly contact?: string | undefined;
}

/**
 * The query for the user who is signed in with this browser. It is refetched when the page becomes
 * visible again.
 */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
});

/** Returns who is signed in, or how to sign in. Throws ApiError. */
export async function readSession(signal?: AbortSignal): Promise<Session | SignedOut> {
  try {
    return await callConsole<Session | SignedOut>("/console/session", signal && { signal });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // If a page was loaded over http from another machine, browsers do not report that it has the
    // service's own origin. No one can sign in there.
    if (error.reason === "ORIGIN_REFUSED" && !isSecureContext) {
      return { signInWays: [], contact: error.metadata["contact"] };
    }
    throw error;
  }
}

/**
 * The channel on which the tabs of a browser, which share one session, report sign-ins and
 * sign-outs.
 */
const tabs = "hlust.session";

/** "signedOut": the user has signed out. "changed": the session may be new or another user's. */
type TabMessage = "signedOut" | "changed";

async function notifyingOtherTabs<Answer>(
  message: TabMessage,
  work: Promise<Answer>,
): Promise<Answer> {
  const answer = await work;
  const channel = new BroadcastChannel(tabs);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is about windows; a channel has one origin
  channel.postMessage(message);
  channel.close();
  return answer;
}

/**
 * Refetches the session when another tab has signed in or switched accounts. Calls `leave` when
 * another tab has signed out.
 */
export function watchOtherTabs(queries: QueryClient, leave: () => void): void {
  new BroadcastChannel(tabs).addEventListener("message", ({ data }: MessageEvent<TabMessage>) => {
    if (data === "signedOut") leave();
    else void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  });
}

/**
 * Signs in with an API key, or with the token of a sign-in link. Throws ApiError with
 * SIGN_IN_REFUSED, TOO_MANY_REFUSED or HTTPS_NEEDED.
 */
export function signIn(
  by: { readonly apiKey: string } | { readonly signInToken: string },
): Promise<Session> {
  const call = { method: "POST", body: by } as const;
  return notifyingOtherTabs("changed", callConsole("/console/session", call));
}

/**
 * Signs out. The browser deletes everything that the console has stored, except language and theme.
 */
export function signOut(): Promise<object> {
  const done = keepingLanguageAndTheme(() =>
    callConsole<object>("/console/session", { method: "DELETE" }),
  );
  return notifyingOtherTabs("signedOut", done);
}

/** Switches to another account of the same person. */
export function switchAccount(account: string): Promise<Session> {
  const call = { method: "POST", body: { account } } as const;
  return notifyingOtherTabs("changed", callConsole("/console/session:switch", call));
}

export function isSignedIn(session: Session | SignedOut): session is Session {
  return "account" in session;
}

/**
 * Returns the user of a session together with the account. Data that was read or typed under one
 * identity is never shown under another.
 */
export function identityOf({ account, actor }: Session): string {
  return `${account.name} ${actor}`;
}

/**
 * Returns the identity that is signed in now, as far as this tab knows, or undefined if no one is
 * signed in. Slow operations check at their end whether the identity is still the same.
 */
export function currentIdentity(queries: QueryClient): string | undefined {
  const session = queries.getQueryData(sessionQuery.queryKey);
  return session && isSignedIn(session) ? identityOf(session) : undefined;
}

/**
 * Removes everything that was read under the previous identity from the query cache as soon as the
 * session changes, in this tab or another one.
 */
export function clearOnIdentityChange(queries: QueryClient): void {
  let before: string | undefined;
  queries.getQueryCache().subscribe(({ query }) => {
    if (query.queryKey[0] !== sessionQuery.queryKey[0]) return;
    const now = currentIdentity(queries);
    if (now === undefined) return;
    if (before !== undefined && before !== now) {
      queries.removeQueries({
        predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0],
      });
    }
    before = now;
  });
}
