import type { Session } from "../auth/session-store.ts";
import { isLoopbackHost } from "../std/loopback.ts";
import { ServiceError } from "../std/service-error.ts";
import { headerOf, type HttpRequest } from "./http.ts";
import { isOwnOrigin } from "./page-origins.ts";

/**
 * The header that shows that a call comes from a page of the console. Other pages cannot send it
 * without a preflight (CORS).
 */
const consoleHeader = "x-hlust-console";

/**
 * The header that names the user of the calling page: `accounts/<id> members/<id>` or
 * `accounts/<id> apiKeys/<id>`.
 */
const ownerHeader = "x-hlust-console-for";

/**
 * Throws permission_denied unless the call comes from a page of the service's own origin (api:
 * Access). Browsers send a cookie with calls from any page. `publicUrl` is the service's own
 * address.
 */
export function refuseOtherPages(request: HttpRequest, publicUrl: string): void {
  const site = headerOf(request, "sec-fetch-site");
  // Browsers without Sec-Fetch-Site send Origin, at least with requests that make changes.
  const isOwn =
    site === undefined
      ? isOwnOrigin(originOf(request) ?? "", hostOf(request), publicUrl)
      : site.toLowerCase() === "same-origin";
  if (!isOwn) {
    throw new ServiceError("permission_denied", "only pages of the console itself may call this", {
      reason: "ORIGIN_REFUSED",
    });
  }
  if (!onlyReads(request) && headerOf(request, consoleHeader) !== "1") {
    throw headerMissing(`${consoleHeader}: 1`);
  }
}

/**
 * Throws aborted (SESSION_CHANGED) unless the page belongs to the user who is signed in. Another
 * tab of the browser may have switched to another account. Links and event streams carry no headers
 * of the page, so reads may omit the header.
 */
export function refuseStalePage(
  request: HttpRequest,
  { accountId, actor }: Pick<Session, "accountId" | "actor">,
): void {
  const owner = headerOf(request, ownerHeader);
  if (owner === undefined) {
    if (onlyReads(request)) return;
    throw headerMissing(ownerHeader);
  }
  if (owner === `accounts/${accountId} ${actor}`) return;
  throw new ServiceError(
    "aborted",
    "another user or account has signed in with this browser, so nothing was changed: reload the page",
    { reason: "SESSION_CHANGED" },
  );
}

/**
 * Throws failed_precondition if the browser would not store the cookie: over http, except on this
 * machine.
 */
export function refuseWithoutHttps(url: string | undefined): void {
  const page = url === undefined ? null : URL.parse(url);
  if (page === null || page.protocol === "https:" || isLoopbackHost(page.hostname)) return;
  throw new ServiceError(
    "failed_precondition",
    `sign-in works only over https, or on the machine of the service itself (http://127.0.0.1, http://localhost): this page is at ${page.origin}`,
    { reason: "HTTPS_NEEDED" },
  );
}

function onlyReads({ method }: HttpRequest): boolean {
  return method === "GET" || method === "HEAD";
}

function headerMissing(header: string): ServiceError {
  return new ServiceError("permission_denied", `the header ${header} is missing`, {
    reason: "CONSOLE_HEADER_MISSING",
  });
}

/** Returns the host and port that the browser called. */
export function hostOf(request: HttpRequest): string | undefined {
  return headerOf(request, ":authority") ?? headerOf(request, "host");
}

/** Returns the origin of the calling page, as the browser reports it. */
export function originOf(request: HttpRequest): string | undefined {
  const origin = headerOf(request, "origin");
  return origin === "null" ? undefined : origin;
}
