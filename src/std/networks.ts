import { BlockList, isIP } from "node:net";

/** Whether an address is in one of the networks. */
export type IsInNetworks = (address: string) => boolean;

/**
 * Reads networks in CIDR notation and single addresses, for IPv4 and IPv6. Throws a RangeError that
 * names the invalid entry.
 */
export function parseNetworks(entries: readonly string[]): IsInNetworks {
  const networks = new BlockList();
  for (const entry of entries) addNetwork(networks, entry);
  return (address) => {
    const [plain = ""] = address.split("%", 1);
    const version = isIP(plain);
    return version !== 0 && networks.check(plain, familyOf(version));
  };
}

function addNetwork(networks: BlockList, entry: string): void {
  const [address = "", bits, ...rest] = entry.split("/");
  const version = isIP(address);
  const bitsMax = version === 4 ? 32 : 128;
  const length = bits === undefined ? bitsMax : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  if (version === 0 || rest.length > 0 || length > bitsMax) {
    throw new RangeError(
      `${JSON.stringify(entry)} is not a network: write it as 10.0.0.0/8, 192.0.2.1 or fd00::/8`,
    );
  }
  networks.addSubnet(address, length, familyOf(version));
}

function familyOf(version: number): "ipv4" | "ipv6" {
  return version === 4 ? "ipv4" : "ipv6";
}
