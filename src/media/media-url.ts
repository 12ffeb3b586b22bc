import ipaddr from "ipaddr.js";
import { BlockList, isIP } from "node:net";
import { shown } from "../std/service-error.ts";

/** What media URLs may reach besides public addresses (HLUST_ALLOW_MEDIA_FROM). */
export interface MediaAllowList {
  /** Whether this very host is listed by name, whatever its address. */
  hasHost(name: string): boolean;
  /** Whether the address is listed, alone or in a network. */
  hasAddress(address: string): boolean;
  /** Whether any address or network is listed. */
  readonly hasAddresses: boolean;
}

/** Longest URL of media, in characters. Signed URLs of object stores have up to about 2000. */
export const urlCharsMax = 8192;

/** The one answer for everything that is not public: it never tells what was behind the address. */
export const notPublic = "the address of the host is not public";

/** Reads CIDRs, addresses and host names; throws Error naming an entry that is none of them. */
export function parseMediaAllowList(entries: readonly string[]): MediaAllowList {
  const hosts = new Set<string>();
  const addresses = new BlockList();
  let hasAddresses = false;
  for (const entry of entries) {
    const [base = "", bits, ...rest] = entry.split("/");
    const version = isIP(base);
    if (version === 0 && bits === undefined && hostName.test(entry)) {
      hosts.add(plainHost(entry));
    } else if (version !== 0 && rest.length === 0 && isPrefix(bits, version)) {
      const family = version === 4 ? "ipv4" : "ipv6";
      addresses.addSubnet(base, bits === undefined ? (version === 4 ? 32 : 128) : +bits, family);
      hasAddresses = true;
    } else {
      throw new Error(`${shown(entry)} is not a network (10.0.0.0/8), an address or a host name`);
    }
  }
  return {
    hasAddresses,
    hasHost: (name) => hosts.has(plainHost(name)),
    hasAddress: (text) => {
      const address = plainAddress(text);
      return addresses.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
    },
  };
}

const hostName = /^(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i;

function isPrefix(bits: string | undefined, version: number): boolean {
  return bits === undefined || (/^\d{1,3}$/.test(bits) && +bits <= (version === 4 ? 32 : 128));
}

/**
 * What is wrong with a URL of media as it is written, before anything is resolved or reached; undefined when nothing is.
 * The address behind a name is checked when it is fetched.
 */
export function checkMediaUrl(text: string, allow: MediaAllowList): string | undefined {
  if (text.length > urlCharsMax) {
    return `has ${text.length} characters; at most ${urlCharsMax} are taken`;
  }
  // The URL parser drops tabs and line ends and turns backslashes: what it would read is not what is written.
  if (/[^\x21-\x7e\u{a1}-\u{10ffff}]|\\/u.test(text)) {
    return `is ${shown(text)}: a URL without spaces, control characters and backslashes is needed`;
  }
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    return `is ${shown(text)}: a URL that begins with https:// or http:// is needed`;
  }
  if (url.username !== "" || url.password !== "") return "has a user name or password in it";
  const host = hostOf(url);
  if (!isIP(host) && /^(.+\.)?localhost$/.test(host) && !allow.hasHost(host)) return notPublic;
  if (isIP(host) && !isAddressAllowed(host, host, allow)) return notPublic;
  if (!isPortAllowed(url, host, allow)) {
    return `has the port ${url.port}: only 80 and 443 are reached`;
  }
  return undefined;
}

/** The host of a URL: lower case, without the brackets of IPv6 and a dot at the end. */
export function hostOf(url: URL): string {
  return plainHost(url.hostname);
}

/** Whether a host may be reached at this address: it is public, or allowed. */
export function isAddressAllowed(host: string, address: string, allow: MediaAllowList): boolean {
  return isPublic(address) || allow.hasHost(host) || allow.hasAddress(address);
}

/** Whether the port is 80 or 443, or this host at this address is allowed by name or address. */
export function isPortAllowedAt(
  url: URL,
  host: string,
  address: string,
  allow: MediaAllowList,
): boolean {
  return isWebPort(url) || allow.hasHost(host) || allow.hasAddress(address);
}

/** As far as it can be told before the name is resolved. */
function isPortAllowed(url: URL, host: string, allow: MediaAllowList): boolean {
  if (isIP(host)) return isPortAllowedAt(url, host, host, allow);
  return isWebPort(url) || allow.hasHost(host) || allow.hasAddresses;
}

function isWebPort(url: URL): boolean {
  return ["", "80", "443"].includes(url.port);
}

/** Whether anybody on the internet reaches the same machine at this address. */
function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.process(address);
  // Of IPv6 only 2000::/3 is given out; ipaddr.js takes ::127.0.0.1 for unicast.
  const isGivenOut = parsed.kind() === "ipv4" || ((parsed.toByteArray()[0] ?? 0) & 0xe0) === 0x20;
  return isGivenOut && parsed.range() === "unicast";
}

function plainHost(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}

/** ::ffff:10.0.0.1 is 10.0.0.1; every other address has one spelling. */
export function plainAddress(text: string): string {
  return isIP(text) === 0 ? text : ipaddr.process(text).toString();
}
