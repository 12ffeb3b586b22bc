import type { IncomingHttpHeaders } from "node:http";
import { ServiceError, shown } from "../std/service-error.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";

/** The value that allows all origins. */
export const anyOrigin = "*";

/**
 * Decides which web pages may call the service. Pages of the service's own origin are always
 * allowed. Cookies play no part, because the API does not read them.
 */
export interface PageOrigins {
  /**
   * Sets the CORS headers of a response. Returns true if the request was a preflight and has been
   * answered.
   */
  answer(request: HttpRequest, response: HttpResponse): boolean;
  /**
   * Returns the reason for refusing a page's WebSocket, because browsers send no preflight for
   * WebSockets. Returns undefined if the WebSocket is accepted.
   */
  refusal(headers: IncomingHttpHeaders): ServiceError | undefined;
}

/**
 * Implements CORS (Fetch, section 3.2). `allowedNow` returns the allowed origins, such as
 * https://app.example, or anyOrigin.
 */
export function createPageOrigins(
  allowedNow: () => readonly string[],
  publicUrl: () => string | undefined,
): PageOrigins {
  const isAllowed = (origin: string): boolean => {
    const allowed = allowedNow();
    return allowed.includes(anyOrigin) || allowed.includes(origin);
  };

  return {
    answer({ method, headers }, response) {
      const allowed = allowedNow();
      if (allowed.length === 0) return false;
      const { origin } = headers;
      if (allowed.includes(anyOrigin)) response.setHeader("access-control-allow-origin", anyOrigin);
      else {
        response.setHeader("vary", "Origin");
        if (origin === undefined || !isAllowed(origin)) return false;
        response.setHeader("access-control-allow-origin", origin);
      }
      response.setHeader("access-control-expose-headers", "*");
      if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined)
        return false;
      // "*" does not include Authorization.
      response.setHeader("access-control-allow-headers", "Authorization, *");
      response.setHeader("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
      response.setHeader("access-control-max-age", "7200");
      response.statusCode = 204;
      response.end();
      return true;
    },
    refusal({ origin, host }) {
      // Programs other than browsers send no Origin.
      if (origin === undefined || isAllowed(origin) || isOwnOrigin(origin, host, publicUrl()))
        return undefined;
      return new ServiceError(
        "permission_denied",
        `pages from ${shown(origin)} may not open streams: ask the operator to add the origin to HLUST_ALLOWED_ORIGINS`,
        { reason: "ORIGIN_REFUSED" },
      );
    },
  };
}

/**
 * Returns whether an origin has the host and port of the service: those of its public URL or those
 * that were called. The scheme may be http or https, because a proxy may have terminated TLS.
 */
export function isOwnOrigin(
  origin: string,
  host: string | undefined,
  publicUrl: string | undefined,
): boolean {
  const page = URL.parse(origin);
  if (page === null) return false;
  const called = URL.parse(`${page.protocol}//${host ?? ""}`);
  return (
    page.host !== "" &&
    (page.host === called?.host || page.origin === URL.parse(publicUrl ?? "")?.origin)
  );
}
