import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

/** Returns whether an address is public: it means the same machine to everyone on the internet. */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address)) return false;
  const parsed = ipaddr.process(address);
  // Only 2000::/3 of IPv6 is assigned. ipaddr.js treats ::127.0.0.1 as unicast.
  const isGivenOut = parsed.kind() === "ipv4" || ((parsed.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
  return isGivenOut && parsed.range() === "unicast";
}

/** Returns whether a text is an address without a zone. A zone is local to a machine. */
export function isPlainAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

/** Returns an address in its canonical spelling: ::ffff:10.0.0.1 becomes 10.0.0.1. */
export function plainAddress(text: string): string {
  return isIP(text) === 0 ? text : ipaddr.process(text).toString();
}

/**
 * Returns a host in the form used to compare names: lower case, without IPv6 brackets or a trailing
 * dot.
 */
export function plainHost(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
