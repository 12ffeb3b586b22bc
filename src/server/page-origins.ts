import type { IncomingHttpHeaders } from "node:http";
import { ServiceError, shown } from "../std/service-error.ts";
import type { HttpRequest, HttpResponse } from "./http.ts";

/** Stands for all origins. */
export const anyOrigin = "*";

/**
 * Which pages may call. A page of the service's own origin always may; no page is ever let in by a
 * cookie here.
 */
export interface PageOrigins {
  /**
   * Tells a browser what the page that calls may see. true: this was a preflight, which is
   * answered.
   */
  answer(request: HttpRequest, response: HttpResponse): boolean;
  /**
   * Why a page's WebSocket is refused: browsers ask nobody before they open one. undefined: it is
   * not.
   */
  refusal(headers: IncomingHttpHeaders): ServiceError | undefined;
}

/** CORS (Fetch, section 3.2) for `allowed` origins, such as https://app.example, or anyOrigin. */
export function createPageOrigins(
  allowed: readonly string[],
  publicUrl: () => string | undefined,
): PageOrigins {
  const isOpen = allowed.includes(anyOrigin);
  const isAllowed = (origin: string): boolean => isOpen || allowed.includes(origin);

  return {
    answer({ method, headers }, response) {
      if (allowed.length === 0) return false;
      const { origin } = headers;
      if (isOpen) response.setHeader("access-control-allow-origin", anyOrigin);
      else {
        response.setHeader("vary", "Origin");
        if (origin === undefined || !isAllowed(origin)) return false;
        response.setHeader("access-control-allow-origin", origin);
      }
      response.setHeader("access-control-expose-headers", "*");
      if (method !== "OPTIONS" || headers["access-control-request-method"] === undefined)
        return false;
      // The asterisk does not stand for Authorization.
      response.setHeader("access-control-allow-headers", "Authorization, *");
      response.setHeader("access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
      response.setHeader("access-control-max-age", "7200");
      response.statusCode = 204;
      response.end();
      return true;
    },
    refusal({ origin, host }) {
      // Programs send none.
      if (origin === undefined || isAllowed(origin) || isOwnOrigin(origin, host, publicUrl()))
        return undefined;
      return new ServiceError(
        "permission_denied",
        `pages of ${shown(origin)} may not open streams here: the operator names those that may (HLUST_ALLOWED_ORIGINS)`,
        { reason: "ORIGIN_REFUSED" },
      );
    },
  };
}

/**
 * Of the same host and port as the service is known by, or was called by; a proxy may have taken
 * TLS off.
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
