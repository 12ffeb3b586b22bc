import {
  contactOf,
  ifSet,
  list,
  networks,
  pageOrigin,
  whole,
  type Setting,
} from "../std/setting.ts";

/** The addresses and web pages that may call, and the limits of one client. */
export interface CallerConfig {
  /** The networks (CIDR) of proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: readonly string[];
  /** The origins of web pages that may make cross-origin calls; "*" for all origins. */
  readonly allowedOrigins: readonly string[];
  /**
   * The maximum number of open connections. If undefined, it is derived from the limit of open
   * files.
   */
  readonly connectionsMax: number | undefined;
  /** The maximum number of open connections from one address. */
  readonly connectionsPerAddress: number;
  /** The maximum number of refused tokens from one address, in a burst and then per minute. */
  readonly refusedPerMinute: number;
  /** The e-mail address or URL for access requests. If undefined, responses contain none. */
  readonly contact: string | undefined;
}

export const callerSettings = {
  trustedProxies: {
    name: "HLUST_TRUSTED_PROXIES",
    meaning:
      "Networks (CIDR) of proxies in front of the service, comma-separated: their X-Forwarded-For gives the client address",
    fallback: "none: the address of the connection counts",
    isList: true,
    parse: (text, name) => networks(list(text), name),
  },
  allowedOrigins: {
    name: "HLUST_ALLOWED_ORIGINS",
    meaning:
      "Origins of web pages that may call cross-origin, comma-separated, such as https://app.example; * for all",
    fallback: "none: pages of the service's own origin only",
    isList: true,
    isLive: true,
    parse: (text, name) => list(text).map((entry) => pageOrigin(entry, name)),
  },
  connectionsMax: {
    name: "HLUST_CONNECTIONS_MAX",
    meaning: "Maximum number of open connections",
    fallback: "half of the limit of open files (ulimit -n), at most 10000",
    parse: ifSet((text, name) => whole(text, name, 1, 1_000_000)),
  },
  connectionsPerAddress: {
    name: "HLUST_CONNECTIONS_PER_ADDRESS",
    meaning:
      "Maximum number of open connections of one address (IPv6: one /64); this machine and HLUST_TRUSTED_PROXIES are not counted",
    fallback: "1000",
    isLive: true,
    parse: (text, name) => whole(text ?? "1000", name, 1, 1_000_000),
  },
  refusedPerMinute: {
    name: "HLUST_REFUSED_PER_MINUTE",
    meaning:
      "How many tokens of one address (IPv6: one /64) may be refused in a burst, and per minute after that; further tokens are answered 429",
    fallback: "60",
    isLive: true,
    parse: (text, name) => whole(text ?? "60", name, 1, 1_000_000_000),
  },
  contact: {
    name: "HLUST_CONTACT",
    meaning:
      "E-mail address or URL for requesting access: on the sign-in page, in /docs and openapi.json, and in answers 401 and 403",
    fallback: "none",
    parse: ifSet(contactOf),
  },
} satisfies { [Key in keyof CallerConfig]: Setting<CallerConfig[Key]> };

export function readCallers(read: <T>(setting: Setting<T>) => T): CallerConfig {
  return {
    trustedProxies: read<readonly string[]>(callerSettings.trustedProxies),
    allowedOrigins: read<readonly string[]>(callerSettings.allowedOrigins),
    connectionsMax: read(callerSettings.connectionsMax),
    connectionsPerAddress: read(callerSettings.connectionsPerAddress),
    refusedPerMinute: read(callerSettings.refusedPerMinute),
    contact: read(callerSettings.contact),
  };
}
