import type { Person } from "../auth/find-member.ts";
import type { OpenId } from "../auth/open-id.ts";
import type { RefusedAttempts } from "../auth/refused-attempts.ts";
import type { Sessions } from "../auth/sessions.ts";
import type { SignIn } from "../auth/sign-in.ts";
import { errorFields, type Log } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import {
  clearSignInCookie,
  sessionCookieOf,
  setSessionCookie,
  setSignInCookie,
  signInCookieOf,
} from "./console-cookie.ts";
import { hostOf, refuseWithoutHttps } from "./console-page.ts";
import { visitOf } from "./console-session.ts";
import {
  headerOf,
  targetOf,
  writeHead,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";

const home = "/console/";
const callbackPath = "/console/sign-in/callback";
const toCharsMax = 1000;

export interface ConsoleSignInParts {
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  /** undefined if users sign in only with API keys and links. */
  readonly openId: OpenId | undefined;
  /** Slows down clients that come back from the provider with a made-up code. */
  readonly attempts: RefusedAttempts;
  /** Returns the address of the service for browsers, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly log: Log;
}

/**
 * Creates the handlers of /console/sign-in: to the OpenID Connect provider, and back from it. Every
 * failure redirects to the console, with the reason in the fragment. Returns undefined if there is
 * no provider.
 */
export function createConsoleSignIn(
  parts: ConsoleSignInParts,
): { readonly begin: HttpHandler; readonly finish: HttpHandler } | undefined {
  const { openId, signIn, attempts, publicUrl, log } = parts;
  if (!openId) return undefined;

  /**
   * Checks the code with the provider. Made-up codes count as refused tokens of their sender, so
   * that the sender is blocked before the provider blocks the service.
   */
  async function personOf(request: HttpRequest, url: URL, secret: string): Promise<Person> {
    let failure: unknown = new Error("the same code was refused a moment ago");
    const person = await attempts.attempt(callOriginOf(request).address, url.search, async () => {
      try {
        return await openId?.finish(url, secret);
      } catch (error) {
        if (error instanceof ServiceError) throw error;
        failure = error;
        return undefined;
      }
    });
    if (person) return person;
    throw failure;
  }

  const guarded =
    (handler: HttpHandler): HttpHandler =>
    async (request, response) => {
      try {
        await handler(request, response);
      } catch (error) {
        const { reason } = error instanceof ServiceError ? error : { reason: "PROVIDER_FAILED" };
        // The provider's own message is logged for the operator but not shown to the user.
        const cause = error instanceof ServiceError && error.cause ? error.cause : error;
        log.warn({ reason, ...errorFields(cause) }, "sign_in.failed");
        response.setHeader("set-cookie", clearSignInCookie);
        redirect(response, `${publicUrl()}${home}#problem=${reason}`);
      }
    };

  return {
    begin: guarded(async (request, response) => {
      refuseWithoutHttps(publicUrl());
      const query = queryOf(request);
      const to = safePath(query.get("to") ?? "");
      if (isElsewhere(request, publicUrl()) && !query.has("again")) {
        redirect(
          response,
          `${publicUrl()}/console/sign-in?${String(new URLSearchParams({ to, again: "" }))}`,
        );
        return;
      }
      const { url, secret } = await openId.begin(publicUrl() + callbackPath);
      const before = sessionCookieOf(headerOf(request, "cookie")) ?? "";
      response.setHeader("set-cookie", setSignInCookie({ secret, to, before }));
      redirect(response, url.href);
    }),

    finish: guarded(async (request, response) => {
      const begun = signInCookieOf(headerOf(request, "cookie"));
      if (!begun)
        throw new ServiceError("failed_precondition", "no sign-in was started in this browser", {
          reason: "SIGN_IN_EXPIRED",
        });
      const query = queryOf(request);
      if (query.has("error")) {
        throw new ServiceError("permission_denied", "the provider refused the sign-in", {
          reason: "PROVIDER_REFUSED",
        });
      }
      const url = new URL(`${publicUrl()}${callbackPath}?${String(query)}`);
      const person = await personOf(request, url, begun.secret);
      const visit = await visitOf(parts, request, begun.before);
      const { session, secret } = await signIn({ method: "open_id", person }, visit);
      response.setHeader("set-cookie", [
        clearSignInCookie,
        setSessionCookie(secret, session.expiresAt),
      ]);
      redirect(response, publicUrl() + safePath(begun.to));
    }),
  };
}

/** Redirects without a referrer, and without caching. */
function redirect(response: HttpResponse, location: string): void {
  writeHead(response, 303, {
    location,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "content-length": 0,
  });
  response.end();
}

function queryOf(request: HttpRequest): URLSearchParams {
  return new URLSearchParams(targetOf(request).split("?").slice(1).join("?"));
}

/** Returns `to` if it is a path of the console, otherwise the console's start page. */
function safePath(to: string): string {
  return /^\/console\/[\w\-.~/%?=&:+]*$/.test(to) && to.length <= toCharsMax ? to : home;
}

/**
 * Returns whether the browser called the service by another host name. The provider sends the
 * browser back to the public address, where a cookie set for another host would be missing.
 */
function isElsewhere(request: HttpRequest, publicUrl: string): boolean {
  return hostOf(request) !== new URL(publicUrl).host;
}
