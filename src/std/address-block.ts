import ipaddr from "ipaddr.js";

/**
 * Returns the part of an IP address that identifies a client: the whole of an IPv4 address, or the
 * first 64 bits of an IPv6 address, because a host has all addresses of its network (RFC 4291,
 * section 2.5.4). Any other text is returned unchanged.
 */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  // An interface name may follow the "%".
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return address;
  // ::ffff:192.0.2.1 is an IPv4 address.
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
