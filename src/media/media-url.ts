import { BlockList, isIP } from "node:net";
import { domainToASCII } from "node:url";
import { ServiceError, shown } from "../std/service-error.ts";
import { isPlainAddress, isPublicAddress, plainAddress, plainHost } from "./public-address.ts";

/**
 * The hosts and ports that media URLs may reach, in addition to ports 80 and 443 at public
 * addresses (HLUST_ALLOW_MEDIA_FROM).
 */
export interface MediaAllowList {
  /** Returns whether the list names this host for the port, whatever its address. */
  hasHost(name: string, port: number): boolean;
  /**
   * Returns whether the list contains the address for the port, either individually or as part of a
   * network.
   */
  hasAddress(address: string, port: number): boolean;
  /** Returns whether the list contains any address or network for the port. */
  hasPort(port: number): boolean;
}

/**
 * Reads networks (10.0.0.0/8), addresses and host names. An entry applies to every port, or with
 * `:port` to one port; an IPv6 address with a port is in brackets. Throws Error, which names the
 * invalid entry.
 */
export function parseMediaAllowList(entries: readonly string[]): MediaAllowList {
  const lists = new Map<number, PortList>();
  for (const entry of entries) {
    const [, bracketed, target = entry, digits] = withPort.exec(entry) ?? [];
    const port = digits === undefined ? everyPort : Number(digits);
    const list = lists.get(port) ?? { hosts: new Set(), addresses: new BlockList(), size: 0 };
    const isPort = digits === undefined || (port >= 1 && port <= 65_535);
    if (!isPort || !addTo(list, bracketed ?? target)) {
      throw new Error(
        `${shown(entry)} is not a network (10.0.0.0/8), an address or a host name, for one port with :port`,
      );
    }
    lists.set(port, list);
  }
  const has = (port: number, test: (list: PortList) => boolean): boolean =>
    [everyPort, port].some((each) => test(lists.get(each) ?? empty));
  return {
    hasPort: (port) => has(port, ({ size }) => size > 0),
    hasHost: (name, port) => has(port, ({ hosts }) => hosts.has(plainHost(name))),
    hasAddress(text, port) {
      const address = plainAddress(text);
      const family = isIP(address) === 6 ? "ipv6" : "ipv4";
      return has(port, ({ addresses }) => addresses.check(address, family));
    },
  };
}

interface PortList {
  readonly hosts: Set<string>;
  readonly addresses: BlockList;
  /** The number of addresses and networks. */
  size: number;
}

/** The key of entries for every port; no port has this number. */
const everyPort = -1;
const empty: PortList = { hosts: new Set(), addresses: new BlockList(), size: 0 };
/** Matches [fd00::1]:9000, 10.0.0.0/8:9000, media.internal:9000, and also [fd00::1]. */
const withPort = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/;
const hostName = /^(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i;

/** Adds an entry without its port. Returns false if the entry is invalid. */
function addTo(list: PortList, target: string): boolean {
  const [base = "", bits, ...rest] = target.split("/");
  const version = isIP(base);
  if (version !== 0) {
    const bitsMax = version === 4 ? 32 : 128;
    if (rest.length > 0 || !isPrefix(bits, bitsMax) || base.includes("%")) return false;
    const family = version === 4 ? "ipv4" : "ipv6";
    list.addresses.addSubnet(base, bits === undefined ? bitsMax : Number(bits), family);
    list.size++;
    return true;
  }
  // The host as it would appear in a URL, where forms such as 127.1 are addresses.
  const host = domainToASCII(base);
  if (bits !== undefined || !hostName.test(host) || isIP(plainHost(host)) !== 0) return false;
  list.hosts.add(plainHost(host));
  return true;
}

function isPrefix(bits: string | undefined, bitsMax: number): boolean {
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
}

/**
 * The maximum length of a media URL, in characters. Signed URLs of object stores have up to about
 * 2000.
 */
export const urlCharsMax = 8192;

/** The form of a media URL: it begins with http: or https:. */
export const mediaUrlPattern = /^[Hh][Tt][Tt][Pp][Ss]?:/;

/** The message for every address that is not public: it reveals nothing about the address. */
export const notPublic = "the address of the host is not public";

export function addressRefused(): ServiceError {
  return new ServiceError("failed_precondition", notPublic, { reason: "MEDIA_ADDRESS_REFUSED" });
}

/**
 * Describes what is wrong with the text of a media URL, without resolving or connecting. Returns
 * undefined if nothing is wrong. The description contains nothing from the path or query, which may
 * be secret. The address of a host name is checked when the media is fetched.
 */
export function checkMediaUrl(text: string, allow: MediaAllowList): string | undefined {
  if (text.length > urlCharsMax) {
    return `has ${text.length} characters; at most ${urlCharsMax} are allowed`;
  }
  // The URL parser drops tabs and line ends and converts backslashes, so the URL would differ from
  // the text that is checked.
  const at = text.search(/[^\x21-\x7e\u{a1}-\u{10ffff}]|\\/u);
  if (at >= 0) {
    return `contains ${shown(text[at])}: spaces, control characters and backslashes are not allowed`;
  }
  if (!mediaUrlPattern.test(text)) {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0].toLowerCase();
    const found = scheme === undefined ? "" : `begins with ${shown(scheme)}: it `;
    return `${found}must begin with https:// or http://`;
  }
  const url = URL.parse(text);
  if (!url) return "has an invalid host or port";
  if (url.username !== "" || url.password !== "") return "has a user name or password in it";
  const target = targetOf(url);
  const { host, port } = target;
  const isLocalName = /^(.+\.)?localhost$/.test(host);
  if (isLocalName && !allow.hasHost(host, port)) return notPublic;
  if (isIP(host) !== 0 && !isAddressAllowed(target, host, allow)) return notPublic;
  if (!mayBeAllowed(target, allow)) return portRefusal(target);
  return undefined;
}

/** The host and port of a URL. */
export interface UrlHost {
  /** The host in lower case, without IPv6 brackets or a trailing dot. */
  readonly host: string;
  readonly port: number;
}

export function targetOf({ hostname, port, protocol }: URL): UrlHost {
  const standard = protocol === "https:" ? 443 : 80;
  return { host: plainHost(hostname), port: port === "" ? standard : Number(port) };
}

/**
 * Returns whether a host may be reached at this address because the address is public or allowed.
 */
export function isAddressAllowed(target: UrlHost, address: string, allow: MediaAllowList): boolean {
  return isPublicAddress(address) || isListed(target, address, allow);
}

/**
 * Returns whether the port is 80 or 443, or this host at this address is allowed by name or
 * address.
 */
export function isPortAllowedAt(target: UrlHost, address: string, allow: MediaAllowList): boolean {
  return isWebPort(target) || isListed(target, address, allow);
}

export function portRefusal({ port }: UrlHost): string {
  return `has the port ${port}: only 80 and 443 are allowed`;
}

/** Returns whether the port may be allowed, as far as is known before the name is resolved. */
function mayBeAllowed(target: UrlHost, allow: MediaAllowList): boolean {
  const { host, port } = target;
  if (isIP(host) !== 0) return isPortAllowedAt(target, host, allow);
  return isWebPort(target) || allow.hasHost(host, port) || allow.hasPort(port);
}

function isListed({ host, port }: UrlHost, address: string, allow: MediaAllowList): boolean {
  return allow.hasHost(host, port) || (isPlainAddress(address) && allow.hasAddress(address, port));
}

function isWebPort({ port }: UrlHost): boolean {
  return port === 80 || port === 443;
}
