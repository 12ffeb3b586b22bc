import type { IncomingHttpHeaders } from "node:http";
import { severalTokens } from "../auth/shown-tokens.ts";

/** Headers in which clients of other services send a key as it is. */
const keyHeaders = ["api-key", "x-api-key"];

/**
 * Returns the key of a request in the form in which the service reads it, however the client of
 * another service sends it: as Bearer or Token, as the password (or the user, without a password)
 * of Basic, bare, or in a header of its own. These forms hold on the paths of dialects only. Throws
 * invalid_argument for two different keys.
 */
export function shownKey(headers: IncomingHttpHeaders): Headers {
  const shown = new Set<string>();
  for (const part of (headers.authorization ?? "").split(",")) {
    const key = keyInAuthorization(part.trim());
    if (key !== "") shown.add(key);
  }
  for (const name of keyHeaders) {
    for (const key of [headers[name] ?? []].flat()) if (key.trim() !== "") shown.add(key.trim());
  }
  if (shown.size > 1) throw severalTokens();
  const [key] = shown;
  return new Headers(
    key !== undefined && isHeaderText(key) ? { authorization: `Bearer ${key}` } : {},
  );
}

/**
 * Returns the key of a request for a socket: as shownKey() does, or in the subprotocols, where
 * browsers send it: `token, <key>`, `bearer, <key>` or `openai-insecure-api-key.<key>`.
 */
export function shownSocketKey(headers: IncomingHttpHeaders): Headers {
  const names = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const scheme = names.findIndex((name) => /^(?:token|bearer)$/i.test(name));
  const named = scheme === -1 ? undefined : names[scheme + 1];
  const prefix = "openai-insecure-api-key.";
  const prefixed = names.find((name) => name.startsWith(prefix))?.slice(prefix.length);
  const keys = [named, prefixed].filter((key) => key !== undefined && key !== "");
  const authorization = [headers.authorization ?? "", ...keys.map((key) => `Bearer ${key}`)];
  return shownKey({ ...headers, authorization: authorization.filter(Boolean).join(", ") });
}

function keyInAuthorization(value: string): string {
  const [, scheme = "", rest = ""] = /^(\S+)(?:\s+(.*))?$/.exec(value) ?? [];
  switch (scheme.toLowerCase()) {
    case "bearer":
    case "token":
      return rest.trim();
    case "basic": {
      const [user = "", ...password] = Buffer.from(rest, "base64").toString().split(":");
      return password.join(":") || user;
    }
    default:
      return rest === "" ? scheme : "";
  }
}

/** Headers cannot have other characters, and neither can keys. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}
