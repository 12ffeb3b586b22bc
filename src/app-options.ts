import { join } from "node:path";
import {
  ConfigError,
  memoryOfNode,
  memoryShares,
  type Config,
  type MemoryShares,
} from "./config.ts";
import type { KeptSockets } from "./kept-sockets.ts";
import { parseMediaAllowList, type MediaAllowList } from "./media/media-url.ts";
import { defaultConnectionsMax } from "./server/connection-limits.ts";
import type { ListenOptions, Network } from "./server/server-parts.ts";
import { ServedCertificate } from "./server/tls/served-certificate.ts";
import type { Log } from "./std/log.ts";
import { parseNetworks } from "./std/networks.ts";
import { workerThreadsMax } from "./transcripts/worker-threads.ts";

/**
 * Returns the address on which the port listens, and its connection limits. Reads its certificate,
 * if there is one. Throws a ConfigError if it cannot be served.
 */
export async function openListen(
  config: Config,
  parts: AsyncDisposableStack,
  { kept, log }: { readonly kept: KeptSockets; readonly log: Log },
): Promise<ListenOptions> {
  const certificate = config.tls && parts.use(await ServedCertificate.open(config.tls, { log }));
  const { callers } = config;
  const isExempt = parseNetworks([...callers.trustedProxies, ...thisMachine]);
  const connections = {
    max: connectionsMaxOf(config),
    get perAddressMax() {
      return callers.connectionsPerAddress;
    },
    isExempt,
  };
  const { host, port } = config;
  return { host, port, kept: kept.port, certificate, limits: { connections } };
}

/**
 * Returns the public address of the service, its trusted proxies and the pages that may call it.
 */
export function networkOf({ callers }: Config, publicUrl: () => string): Network {
  const { contact, trustedProxies } = callers;
  return {
    contact,
    get allowedOrigins() {
      return callers.allowedOrigins;
    },
    isTrustedProxy: parseNetworks(trustedProxies),
    publicUrl,
  };
}

/** Returns the settings of the protocols of other services. */
export function dialectOptions(config: Config) {
  const { defaultLanguage, callBytesMax: fileBytesMax, engineProcesses } = config;
  return {
    defaultLanguage,
    fileBytesMax,
    engineProcesses,
    scratchFolder: join(config.dataFolder, "scratch"),
    durationMsMax: config.recordingSecondsMax * 1000,
  };
}

/** Returns the memory of each part of this process. */
export function memoryOf(config: Config): MemoryShares {
  const connectionsMax = connectionsMaxOf(config);
  const parts = { connectionsMax, workerThreads: workerThreadsMax };
  return memoryShares(config.memoryMb, parts, memoryOfNode(config.frontProcesses));
}

/**
 * Returns the addresses that URLs from users may reach. Throws a ConfigError that names the
 * setting.
 */
export function allowListOf(setting: string, entries: readonly string[]): MediaAllowList {
  try {
    return parseMediaAllowList(entries);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${setting}: ${problem}`, { cause: error });
  }
}

/**
 * The addresses of this machine. Connections from them have no limit per address: reverse proxies
 * and load tools here call for many clients, and a hostile local process needs no connections to do
 * harm.
 */
const thisMachine = ["127.0.0.0/8", "::1"];

/** Returns the connections that a process may have: a share of those of the node, if it is set. */
function connectionsMaxOf({ callers, frontProcesses }: Config): number {
  if (callers.connectionsMax === undefined) return defaultConnectionsMax();
  return Math.ceil(callers.connectionsMax / frontProcesses);
}
