import { contactOf, list, networks, pageOrigin, whole, type Setting } from "../std/setting.ts";

/** Who may call from where, and how much of the doors one caller may hold. */
export interface CallerConfig {
  /** Networks (CIDR) of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Origins of pages that may call from elsewhere; "*": all. */
  readonly allowedOrigins: readonly string[];
  /** Connections that may be open; undefined: as many as files may be open allow. */
  readonly connectionsMax: number | undefined;
  /** Connections of one address. */
  readonly connectionsPerAddress: number;
  /** Tokens of one address that may be refused at once, and each minute. */
  readonly refusedPerMinute: number;
  /** E-mail address or URL where people ask for access; undefined: answers do not name any. */
  readonly contact: string | undefined;
}

export const callerSettings = {
  trustedProxies: {
    name: "HLUST_TRUSTED_PROXIES",
    meaning:
      "Networks (CIDR) of proxies before the service, by comma: callers are told apart by the X-Forwarded-For that they send",
    fallback: "none: the address of the connection counts",
    parse: (text, name) => networks(list(text), name),
  },
  allowedOrigins: {
    name: "HLUST_ALLOWED_ORIGINS",
    meaning:
      "Origins of web pages that may call from elsewhere, by comma, such as https://app.example; * for all",
    fallback: "none: pages of the service's own origin only",
    parse: (text, name) => list(text).map((entry) => pageOrigin(entry, name)),
  },
  connectionsMax: {
    name: "HLUST_CONNECTIONS_MAX",
    meaning: "Connections that may be open",
    fallback: "half of the files that may be open (ulimit -n), at most 10000",
    parse: (text, name) => (text === undefined ? undefined : whole(text, name, 1, 1_000_000)),
  },
  connectionsPerAddress: {
    name: "HLUST_CONNECTIONS_PER_ADDRESS",
    meaning:
      "Connections of one address (of IPv6 of one /64) that may be open; this machine and HLUST_TRUSTED_PROXIES are not counted",
    fallback: "1000",
    parse: (text, name) => whole(text ?? "1000", name, 1, 1_000_000),
  },
  refusedPerMinute: {
    name: "HLUST_REFUSED_PER_MINUTE",
    meaning:
      "Tokens of one address (of IPv6 of one /64) that may be refused at once and each minute; past it new ones are answered 429",
    fallback: "60",
    parse: (text, name) => whole(text ?? "60", name, 1, 1_000_000_000),
  },
  contact: {
    name: "HLUST_CONTACT",
    meaning:
      "E-mail address or URL where people ask for access: on the sign-in page, in /docs and openapi.json, and in answers 401 and 403",
    fallback: "none",
    parse: (text, name) => (text === undefined ? undefined : contactOf(text, name)),
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
