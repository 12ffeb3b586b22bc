import ipaddr from "ipaddr.js";

/**
 * The part of an IP address that identifies a client: an IPv4 address itself, and the first 64 bits
 * of an IPv6 address, because a host has all addresses of its network (RFC 4291, section 2.5.4).
 * Any other text is returned unchanged.
 */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  // The name of an interface may follow after %.
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return address;
  // ::ffff:192.0.2.1 is an IPv4 address.
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
