import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api-error.ts";
import { callConsole } from "./call-api.ts";
import { keepingLooks } from "./kept.ts";

/** Who is signed in, as /console/session tells (docs/console.md). */
export interface Session {
  readonly name: string;
  readonly actor: string;
  readonly displayName: string;
  readonly role?: Role;
  readonly scopes: readonly string[];
  readonly account: Account;
  readonly accounts: readonly Account[];
  readonly expireTime: string;
}

export type Role = "OWNER" | "MEMBER" | "VIEWER";

interface Account {
  readonly name: string;
  readonly displayName: string;
  readonly role?: Role;
}

/** Nobody is signed in. */
export interface SignedOut {
  /** The ways in that there are; none where browsers keep nobody signed in. */
  readonly signInWays: readonly ("apiKey" | "openId")[];
  /** E-mail address or URL where people ask for access, where the operator has named one. */
  readonly contact: string | undefined;
}

/** Who is signed in at this browser, asked again when the page is looked at again. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
});

/** Who is signed in, or the ways to do so. Throws ApiError. */
export async function readSession(signal?: AbortSignal): Promise<Session | SignedOut> {
  try {
    return await callConsole<Session>("/console/session", signal && { signal });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { contact } = error.metadata;
    if (error.reason === "SIGNED_OUT") {
      const ways = (error.metadata["signInWays"] ?? "apiKey").split(",");
      return { signInWays: ways.includes("openId") ? ["apiKey", "openId"] : ["apiKey"], contact };
    }
    // Browsers do not say that a page is the service's own where it came over http from another
    // machine: nobody can sign in there.
    if (error.reason === "ORIGIN_REFUSED" && !isSecureContext) {
      return { signInWays: [], contact };
    }
    throw error;
  }
}

/** Tabs of one browser have one session: what one does is seen in the others. */
const tabs = "hlust.session";

/** Whether somebody has left, or it may be another session, or another's. */
type TabNews = "signedOut" | "changed";

async function tellingOtherTabs<Answer>(news: TabNews, work: Promise<Answer>): Promise<Answer> {
  const answer = await work;
  const channel = new BroadcastChannel(tabs);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is of windows; a channel is of one origin
  channel.postMessage(news);
  channel.close();
  return answer;
}

/**
 * Asks again who is signed in when another tab has signed in, or gone to another account. `leave`:
 * one has signed out.
 */
export function watchOtherTabs(queries: QueryClient, leave: () => void): void {
  new BroadcastChannel(tabs).addEventListener("message", ({ data }: MessageEvent<TabNews>) => {
    if (data === "signedOut") leave();
    else void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  });
}

/**
 * Signs in with an API key, or with the token of a link. Throws ApiError: SIGN_IN_REFUSED,
 * TOO_MANY_REFUSED, HTTPS_NEEDED.
 */
export function signIn(
  by: { readonly apiKey: string } | { readonly signInToken: string },
): Promise<Session> {
  const call = { method: "POST", body: by } as const;
  return tellingOtherTabs("changed", callConsole("/console/session", call));
}

/** Signs out; the browser forgets what the console has kept in it, but for language and look. */
export function signOut(): Promise<object> {
  const done = keepingLooks(() => callConsole<object>("/console/session", { method: "DELETE" }));
  return tellingOtherTabs("signedOut", done);
}

/** Goes on in another account of the same person. */
export function switchAccount(account: string): Promise<Session> {
  const call = { method: "POST", body: { account } } as const;
  return tellingOtherTabs("changed", callConsole("/console/session:switch", call));
}

export function isSignedIn(session: Session | SignedOut): session is Session {
  return "account" in session;
}

/** Whose session it is, and in which account: nothing that one has seen or typed is for another. */
export function identityOf({ account, actor }: Session): string {
  return `${account.name} ${actor}`;
}

/**
 * Whose session it is now, as far as this tab knows; undefined where nobody is signed in. What
 * takes a while looks here at its end.
 */
export function whoIsIn(queries: QueryClient): string | undefined {
  const session = queries.getQueryData(sessionQuery.queryKey);
  return session && isSignedIn(session) ? identityOf(session) : undefined;
}

/**
 * Forgets all that was read for one account, or one person, as soon as the session is another's:
 * also when another tab has changed it.
 */
export function keepAccountsApart(queries: QueryClient): void {
  let before: string | undefined;
  queries.getQueryCache().subscribe(({ query }) => {
    if (query.queryKey[0] !== sessionQuery.queryKey[0]) return;
    const now = whoIsIn(queries);
    if (now === undefined) return;
    if (before !== undefined && before !== now) {
      queries.removeQueries({
        predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0],
      });
    }
    before = now;
  });
}
