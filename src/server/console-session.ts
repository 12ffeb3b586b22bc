import type { Visit } from "../auth/open-session.ts";
import { signedOut, type OpenedSession, type Sessions } from "../auth/sessions.ts";
import type { MemberAccount } from "../auth/member-accounts.ts";
import type { OpenId } from "../auth/open-id.ts";
import type { Session } from "../auth/session-store.ts";
import type { Credentials, SignIn } from "../auth/sign-in.ts";
import type { HeldBytes } from "../std/held-bytes.ts";
import { idIn } from "../std/ids.ts";
import { invalidArgument, ServiceError, shown } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import { clearSessionCookie, sessionCookieOf, setSessionCookie } from "./console-cookie.ts";
import { originOf, refuseStalePage, refuseWithoutHttps } from "./console-page.ts";
import {
  answerJson,
  headerOf,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
import { readBody } from "./request-body.ts";

/** The maximum length of a body, which contains an API key or the token of a sign-in link. */
const bodyBytesMax = 4_096;

export interface ConsoleSessionParts {
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** Returns the accounts that the session's user can access, the current one first. */
  readonly accountsOf: (session: Session) => Promise<readonly MemberAccount[]>;
  /** undefined if users sign in only with API keys and links. */
  readonly openId: OpenId | undefined;
  /** undefined if no links are sent by mail to people who ask for one. */
  readonly requestLink: object | undefined;
  /** The email address or URL at which people can ask for access. */
  readonly contact?: string | undefined;
}

/**
 * Creates the handlers of /console/session: the current user, sign-in, sign-out, and switching to
 * another account.
 */
export function createConsoleSession(
  parts: ConsoleSessionParts,
  held: HeldBytes,
): {
  readonly show: HttpHandler;
  readonly open: HttpHandler;
  readonly end: HttpHandler;
  readonly change: HttpHandler;
} {
  const { sessions, signIn } = parts;

  async function answer(response: HttpResponse, { session, secret }: OpenedSession): Promise<void> {
    response.setHeader("set-cookie", setSessionCookie(secret, session.expiresAt));
    answerJson(response, 200, await sessionJson(parts, session));
  }

  return {
    async show(request, response) {
      const session = await currentSession(sessions, request, response);
      // Each first visit asks this, and browsers report errors in their console: it answers 200.
      answerJson(response, 200, session ? await sessionJson(parts, session) : signedOutJson(parts));
    },

    async open(request, response) {
      refuseWithoutHttps(originOf(request));
      const credentials = readCredentials(await readFields(request, held));
      await answer(response, await signIn(credentials, await visitOf(parts, request)));
    },

    async change(request, response) {
      const visit = await visitOf(parts, request);
      if (!visit.before) throw signedOut();
      refuseStalePage(request, visit.before);
      await answer(response, await signIn(readSwitch(await readFields(request, held)), visit));
    },

    async end(request, response) {
      const session = await currentSession(sessions, request, response);
      if (session) await sessions.end(session, callOriginOf(request));
      response.setHeader("set-cookie", clearSessionCookie);
      // "cookies" is omitted, because it would delete the cookies of every host of the domain.
      answerJson(response, 200, "{}", { "clear-site-data": '"cache", "storage"' });
    },
  };
}

/**
 * Returns the address and browser from which a user signs in, and the user's session until now.
 */
export async function visitOf(
  { sessions }: Pick<ConsoleSessionParts, "sessions">,
  request: HttpRequest,
  shownBefore = sessionCookieOf(headerOf(request, "cookie")) ?? "",
): Promise<Visit> {
  const origin = callOriginOf(request);
  const found = await sessions.check(shownBefore, origin.address);
  return {
    origin,
    userAgent: headerOf(request, "user-agent") ?? "",
    before: found?.session,
  };
}

/**
 * Returns the session identified by a call's cookie. The response sets a new secret when one is
 * due.
 */
export async function currentSession(
  sessions: Sessions,
  request: HttpRequest,
  response: HttpResponse,
): Promise<Session | undefined> {
  const shown = sessionCookieOf(headerOf(request, "cookie")) ?? "";
  const found = await sessions.check(shown, callOriginOf(request).address);
  if (found?.renewed !== undefined) {
    response.setHeader("set-cookie", setSessionCookie(found.renewed, found.session.expiresAt));
  }
  return found?.session;
}

/** Returns the first data that a page of the console loads. */
async function sessionJson(
  { accountsOf, ...ways }: Pick<ConsoleSessionParts, "accountsOf" | "openId" | "requestLink">,
  session: Session,
): Promise<string> {
  const accounts = (await accountsOf(session)).map(({ accountId, displayName, role }) => ({
    name: `accounts/${accountId}`,
    displayName,
    role,
  }));
  return JSON.stringify({
    name: `sessions/${session.id}`,
    actor: session.actor,
    displayName: session.displayName,
    role: session.role,
    scopes: [...session.scopes],
    account: accounts[0],
    accounts,
    signInWays: waysOf(ways),
    expireTime: session.expiresAt.toISOString(),
  });
}

/** Returns how to sign in, for a page without a session. */
function signedOutJson({ contact, ...ways }: ConsoleSessionParts): string {
  return JSON.stringify({ signInWays: waysOf(ways), contact });
}

function waysOf({
  openId,
  requestLink,
}: Pick<ConsoleSessionParts, "openId" | "requestLink">): readonly string[] {
  return ["apiKey", ...(openId ? ["openId"] : []), ...(requestLink ? ["mail"] : [])];
}

/**
 * Reads the fields of a JSON object. `of` is the account whose memory limit the body counts
 * towards: before sign-in there is none, so all such requests share the limit of one account.
 */
export async function readFields(
  request: HttpRequest,
  held: HeldBytes,
  { of, bytesMax }: { readonly of: string; readonly bytesMax: number } = {
    of: "",
    bytesMax: bodyBytesMax,
  },
): Promise<ReadonlyMap<string, unknown>> {
  const type = headerOf(request, "content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw new ServiceError("invalid_argument", "send application/json", {
      reason: "UNSUPPORTED_MEDIA_TYPE",
      httpStatus: 415,
    });
  }
  using share = held.hold(of);
  const text = Buffer.from(await readBody(request, bytesMax, share)).toString();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ServiceError("invalid_argument", "the body is not JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new ServiceError("invalid_argument", "the body is not a JSON object");
  }
  return new Map(Object.entries(body));
}

/**
 * Reads an API key or a sign-in token: exactly one of them, and no other field. Errors never
 * contain the values.
 */
function readCredentials(fields: ReadonlyMap<string, unknown>): Credentials {
  const [apiKey, signInToken] = [fields.get("apiKey"), fields.get("signInToken")];
  if (fields.size === 1 && typeof apiKey === "string") return { method: "api_key", apiKey };
  if (fields.size === 1 && typeof signInToken === "string") {
    return { method: "sign_in_token", signInToken };
  }
  throw new ServiceError(
    "invalid_argument",
    "either apiKey or signInToken is required, as a string",
  );
}

function readSwitch(fields: ReadonlyMap<string, unknown>): Credentials {
  const account = fields.get("account");
  const accountId = typeof account === "string" ? idIn("accounts", account) : undefined;
  if (fields.size !== 1 || accountId === undefined) {
    throw invalidArgument([
      { field: "account", description: `must be accounts/<id>, not ${shown(account)}` },
    ]);
  }
  return { method: "switch", accountId };
}
