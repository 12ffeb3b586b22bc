import { ServiceError } from "../std/service-error.ts";
import type { CallOrigin } from "./caller.ts";
import type { Session } from "./session-store.ts";

/** What a call says about itself. */
export interface CallFacts {
  readonly headers: Pick<Headers, "get">;
  /** The request target as sent: path and query. */
  readonly url: string;
  readonly origin: CallOrigin;
  /** Who is signed in to the console, where its door has looked: no token is asked for then. */
  readonly session?: Session | undefined;
  /** Whether it opens a WebSocket: only there a stream token counts. */
  readonly isWebSocket?: boolean;
}

/**
 * The token that a call shows (section 5): in the header Authorization, or in X-Goog-Api-Key, where
 * Google's clients put a key; where `alsoInUrl` also in the query parameter token or in
 * Sec-WebSocket-Protocol after "Bearer". undefined when there is none. The same token twice is one;
 * two different ones are refused, for it would not be said which of them counts (RFC 6750 section
 * 2).
 */
export function shownToken(
  { headers, url }: Pick<CallFacts, "headers" | "url">,
  alsoInUrl: boolean,
): string | undefined {
  const shown = new Set(inAuthorization(headers.get("authorization") ?? ""));
  for (const token of inGoogApiKey(headers.get("x-goog-api-key") ?? "")) shown.add(token);
  if (alsoInUrl) {
    for (const token of inQuery(url)) shown.add(token);
    for (const token of inSubprotocols(headers.get("sec-websocket-protocol") ?? ""))
      shown.add(token);
  }
  if (shown.size > 1) {
    throw severalTokens();
  }
  const [token] = shown;
  return token;
}

/** For a call that shows two credentials: it would not be said which counts. */
export function severalTokens(): ServiceError {
  return new ServiceError(
    "invalid_argument",
    "the call shows two different tokens: send one, in one place",
    { reason: "SEVERAL_TOKENS" },
  );
}

/**
 * Headers of the same name arrive joined by commas, which no token has. Other schemes are not ours.
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

/** Read from the text: `new URL()` would fold what stands before it. */
function inQuery(url: string): string[] {
  const start = url.indexOf("?");
  if (start === -1) return [];
  return new URLSearchParams(url.slice(start)).getAll("token").filter((token) => token !== "");
}

function inSubprotocols(value: string): string[] {
  const names = value.split(",").map((name) => name.trim());
  const bearer = names.findIndex((name) => name.toLowerCase() === "bearer");
  const token = bearer === -1 ? undefined : names[bearer + 1];
  return token ? [token] : [];
}
