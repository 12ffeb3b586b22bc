import ipaddr from "ipaddr.js";

/**
 * What of an IP address tells callers apart: an IPv4 address itself, of IPv6 its first 64 bits, for
 * who has one address of a network has all of them (RFC 4291, section 2.5.4). Any other text is
 * given back as it is.
 */
export function addressBlock(address: string): string {
  if (!address.includes(":")) return address;
  // An interface's name may stand behind %.
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return address;
  // ::ffff:192.0.2.1 is an IPv4 address.
  const parsed = ipaddr.process(plain);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}
