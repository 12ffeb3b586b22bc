import { isIP } from "node:net";
import { createContextKey } from "@connectrpc/connect";
import type { CallOrigin } from "../auth/caller.ts";
import { newId } from "../std/ids.ts";
import type { IsInNetworks } from "../std/networks.ts";
import type { HttpRequest } from "./http.ts";

interface Asking {
  readonly headers: HttpRequest["headers"];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** What a caller may choose as the name of its request: it stands in logs and headers. */
const requestIdForm = /^[\w.-]{1,128}$/;

/** Where a call comes from, for interceptors. */
export const originKey = createContextKey<CallOrigin>(
  { address: "", requestId: "" },
  { description: "where the call comes from" },
);

const known = new WeakMap<Asking, CallOrigin>();

/** Where a request comes from: found out once, by whoever answers the door. */
export function callOriginOf(request: Asking): CallOrigin {
  return known.get(request) ?? findCallOrigin(request, () => false);
}

/**
 * The same before anybody else asks, where some callers are proxies that may tell for whom they
 * call.
 */
export function findCallOrigin(request: Asking, isTrustedProxy: IsInNetworks): CallOrigin {
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
 * The last address in X-Forwarded-For that is of no trusted proxy: each proxy adds whom it was
 * called by, so what stands before may be anybody's words. Where an entry is no address, whoever
 * passed it on is the caller.
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

/** 192.0.2.1:443 and [2001:db8::1]:443 are what some proxies write. */
function withoutPort(entry: string): string {
  const [, inBrackets, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return inBrackets ?? v4 ?? entry;
}
