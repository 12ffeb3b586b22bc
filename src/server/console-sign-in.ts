import type { Person } from "../auth/find-member.ts";
import { errorFields } from "../std/log.ts";
import { ServiceError } from "../std/service-error.ts";
import { callOriginOf } from "./call-origin.ts";
import {
  clearSignInCookie,
  sessionCookieOf,
  setSessionCookie,
  setSignInCookie,
  signInCookieOf,
} from "./console-cookie.ts";
import type { ConsoleParts } from "./console-door.ts";
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

/**
 * The handlers of /console/sign-in: to the provider of OpenID Connect, and back from it. Whatever
 * goes wrong ends at the console, with its reason in the fragment; undefined without a provider.
 */
export function createConsoleSignIn(
  parts: ConsoleParts,
): { readonly begin: HttpHandler; readonly finish: HttpHandler } | undefined {
  const { openId, signIn, attempts, publicUrl, log } = parts;
  if (!openId) return undefined;

  /**
   * Each code is asked of the provider: whoever makes them up counts with refused tokens, before it
   * shuts the service itself out.
   */
  async function whoComesBack(request: HttpRequest, url: URL, secret: string): Promise<Person> {
    let failure: unknown = new Error("the same was refused in this moment");
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
        // What the provider says is not for callers; the operator needs it to find out why nobody
        // gets in.
        const told = error instanceof ServiceError && error.cause ? error.cause : error;
        log.warn({ reason, ...errorFields(told) }, "sign_in.failed");
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
      const away = signInCookieOf(headerOf(request, "cookie"));
      if (!away)
        throw new ServiceError("failed_precondition", "no sign-in was begun here", {
          reason: "SIGN_IN_EXPIRED",
        });
      const query = queryOf(request);
      if (query.has("error")) {
        throw new ServiceError("permission_denied", "the provider let nobody in", {
          reason: "PROVIDER_REFUSED",
        });
      }
      const url = new URL(`${publicUrl()}${callbackPath}?${String(query)}`);
      const person = await whoComesBack(request, url, away.secret);
      const visit = await visitOf(parts, request, away.before);
      const { session, secret } = await signIn({ method: "open_id", person }, visit);
      response.setHeader("set-cookie", [
        clearSignInCookie,
        setSessionCookie(secret, session.expiresAt),
      ]);
      redirect(response, publicUrl() + safePath(away.to));
    }),
  };
}

/** Nothing of where the browser was goes on with it, and nothing of this is kept. */
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

/** A path of the console and of nowhere else. */
function safePath(to: string): string {
  return /^\/console\/[\w\-.~/%?=&:+]*$/.test(to) && to.length <= toCharsMax ? to : home;
}

/**
 * The provider sends browsers to the public address: a cookie that is set at another name of the
 * service would not be there.
 */
function isElsewhere(request: HttpRequest, publicUrl: string): boolean {
  return hostOf(request) !== new URL(publicUrl).host;
}
