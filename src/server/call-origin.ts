import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { createContextKey } from "@connectrpc/connect";
import type { CallOrigin } from "../auth/caller.ts";
import { newId } from "../std/ids.ts";
import type { IsInNetworks } from "../std/networks.ts";

interface IncomingRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** The form of a request id that a client may choose. The id appears in logs and headers. */
const requestIdForm = /^[\w.-]{1,128}$/;

/** The origin of a call, for interceptors. */
export const originKey = createContextKey<CallOrigin>(
  { address: "", requestId: "" },
  { description: "where the call comes from" },
);

const known = new WeakMap<IncomingRequest, CallOrigin>();

/**
 * Returns the origin of a request, which the request handler has determined with findCallOrigin().
 */
export function callOriginOf(request: IncomingRequest): CallOrigin {
  return known.get(request) ?? findCallOrigin(request);
}

/**
 * Determines the origin of a request. Trusted proxies name the client for which they forward the
 * request.
 */
export function findCallOrigin(
  request: IncomingRequest,
  isTrustedProxy: IsInNetworks = () => false,
): CallOrigin {
  const peer = request.socket.remoteAddress ?? "";
  const address = isTrustedProxy(peer)
    ? forwardedFor(request.headers["x-forwarded-for"], peer, isTrustedProxy)
    : peer;
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && requestIdForm.test(given) ? given : newId();
  const origin = { address, requestId };
  known.set(request, origin);
  return origin;
}

/**
 * Returns the last address in X-Forwarded-For that is not a trusted proxy. Each proxy appends the
 * address that called it, so earlier entries may be made up. If an entry is not an address, the
 * client is the proxy that appended the entry.
 */
function forwardedFor(
  header: string | readonly string[] | undefined,
  peer: string,
  isTrustedProxy: IsInNetworks,
): string {
  const entries = (typeof header === "string" ? header : (header ?? []).join(",")).split(",");
  let address = peer;
  for (const entry of entries.toReversed()) {
    const hop = withoutPort(entry.trim());
    if (isIP(hop) === 0) return address;
    address = hop;
    if (!isTrustedProxy(hop)) return address;
  }
  return address;
}

/** Removes the port that some proxies append: 192.0.2.1:443, [2001:db8::1]:443. */
function withoutPort(entry: string): string {
  const [, inBrackets, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return inBrackets ?? v4 ?? entry;
}
