import { ServiceError } from "../std/service-error.ts";
import type { CallOrigin } from "./caller.ts";
import type { Session } from "./session-store.ts";

/** The parts of a call that authentication uses. */
export interface CallFacts {
  readonly headers: Pick<Headers, "get">;
  /** The request target as sent: path and query. */
  readonly url: string;
  readonly origin: CallOrigin;
  /** The console session, if the door has checked one. In that case no token is required. */
  readonly session?: Session | undefined;
  /** Whether the call opens a WebSocket: stream tokens are valid only there. */
  readonly isWebSocket?: boolean;
}

/**
 * Returns the token of a call (§5), or undefined if there is none. The token is in the header
 * Authorization, or in X-Goog-Api-Key, where Google's clients send a key; with `alsoInUrl` it may
 * also be in the query parameter token or in Sec-WebSocket-Protocol after "Bearer", and with
 * `alsoAsKey` in the query parameter key. The same token
 * twice counts as one. Two different tokens are refused as ambiguous (RFC 6750 section 2).
 */
export function shownToken(
  { headers, url }: Pick<CallFacts, "headers" | "url">,
  { alsoInUrl, alsoAsKey = false }: { readonly alsoInUrl: boolean; readonly alsoAsKey?: boolean },
): string | undefined {
  const shown = new Set(inAuthorization(headers.get("authorization") ?? ""));
  for (const token of inGoogApiKey(headers.get("x-goog-api-key") ?? "")) shown.add(token);
  if (alsoInUrl) {
    for (const token of inQuery(url, "token")) shown.add(token);
    for (const token of inSubprotocols(headers.get("sec-websocket-protocol") ?? ""))
      shown.add(token);
  }
  if (alsoAsKey) for (const token of inQuery(url, "key")) shown.add(token);
  if (shown.size > 1) {
    throw severalTokens();
  }
  const [token] = shown;
  return token;
}

/** Returns the error for a call with two credentials. */
export function severalTokens(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    "the call has two different tokens: send one, in one place",
    { reason: "SEVERAL_TOKENS" },
  );
}

/**
 * Returns the tokens in the header Authorization. Headers of the same name arrive joined by commas,
 * which tokens do not contain. Other schemes are ignored.
 */
function inAuthorization(value: string): string[] {
  return value.split(",").flatMap((part) => {
    const [, token = ""] = /^\s*bearer(?:\s+(.*))?$/i.exec(part) ?? [];
    return token.trim() === "" ? [] : [token.trim()];
  });
}

function inGoogApiKey(value: string): string[] {
  return value.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
}

/**
 * Returns the tokens in the query. The query is parsed as text, since `new URL()` would resolve dot
 * segments in the path.
 */
function inQuery(url: string, name: "token" | "key"): string[] {
  const start = url.indexOf("?");
  if (start === -1) return [];
  return new URLSearchParams(url.slice(start)).getAll(name).filter((token) => token !== "");
}

function inSubprotocols(value: string): string[] {
  const names = value.split(",").map((name) => name.trim());
  const bearer = names.findIndex((name) => name.toLowerCase() === "bearer");
  const token = bearer === -1 ? undefined : names[bearer + 1];
  return token ? [token] : [];
}
