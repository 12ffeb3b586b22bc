import { isIPv4 } from "node:net";
import { hostname, networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import { errorFields, type Log } from "../../std/log.ts";
import { Responder, type AnnouncedNetwork } from "./responder.ts";
import { labelOf, serviceType } from "./service-records.ts";

export interface AnnouncementOptions {
  /** Returns the addresses of each interface. Default: those of this machine. */
  readonly interfaces?: () => NodeJS.Dict<NetworkInterfaceInfo[]>;
  /** The UDP port of multicast DNS. Default: 5353. */
  readonly dnsPort?: number;
  /** The time between two looks at the interfaces. Default: 10 s. */
  readonly lookMs?: number;
}

const dnsPortDefault = 5_353;
const lookMsDefault = 10_000;

/**
 * Announces Wyoming on the networks of this machine by DNS-SD over multicast DNS, from which Home
 * Assistant knows it, until it is disposed of. Networks that come later are announced to as well.
 * `host` and `port` are the bound address of the listener. Errors of the system are logged.
 */
export function openAnnouncement(
  { host, port }: { readonly host: string; readonly port: number },
  log: Log,
  options: AnnouncementOptions = {},
): AsyncDisposable {
  const { interfaces = networkInterfaces } = options;
  const { dnsPort = dnsPortDefault, lookMs = lookMsDefault } = options;
  const label = labelOf(hostname(), port);
  const open = new Map<string, { readonly responder: Responder; readonly state: string }>();
  const closing = new Set<Promise<void>>();
  const warned = new Set<string>();
  /** A problem that lasts is logged once. */
  const warn = (error: Error): void => {
    if (warned.has(error.message)) return;
    warned.add(error.message);
    log.warn(errorFields(error), "wyoming.announce_failed");
  };
  const close = (address: string, responder: Responder): void => {
    open.delete(address);
    const closed = responder.close().finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const look = (): void => {
    const networks = announcedNetworks(interfaces(), host);
    if (networks.length === 0) {
      warn(new Error(`no network with IPv4 has an address at which Wyoming listens (${host})`));
    }
    for (const [address, { responder }] of open) {
      const isWanted = networks.some((network) => network.address === address);
      if (!isWanted || responder.isBroken) close(address, responder);
    }
    for (const network of networks) {
      const { address, served } = network;
      const service = { label, port, addresses: served };
      const state = JSON.stringify(network);
      const found = open.get(address);
      if (found?.state === state) continue;
      found?.responder.update(network, service);
      const responder =
        found?.responder ?? new Responder(network, service, { dnsPort, onProblem: warn });
      open.set(address, { responder, state });
      const facts = { name: `${label}.${serviceType}`, addresses: served, port };
      log.info(facts, "wyoming.announced");
    }
  };
  look();
  const looking = setInterval(look, lookMs);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(looking);
      for (const [address, { responder }] of open) close(address, responder);
      await Promise.all(closing);
    },
  };
}

/**
 * Returns the networks on which a listener at `host` can be reached by other machines. IPv6
 * addresses of one link only are left out, since clients would need the name of their interface.
 */
export function announcedNetworks(
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>,
  host: string,
): AnnouncedNetwork[] {
  return Object.values(interfaces).flatMap((infos = []) => {
    const others = infos.filter(({ internal }) => !internal);
    const first = others.find(({ family }) => family === "IPv4");
    const served = others
      .map(({ address }) => address)
      .filter((address) => isServed(address, host) && !/^fe[89ab]/i.test(address));
    if (!first || served.length === 0) return [];
    const cidrs = others.flatMap(({ cidr }) => cidr ?? []);
    return [{ address: first.address, cidrs, served }];
  });
}

function isServed(address: string, host: string): boolean {
  return host === "::" || (host === "0.0.0.0" && isIPv4(address)) || host === address;
}
