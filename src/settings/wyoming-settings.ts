import { join, resolve } from "node:path";
import { isLoopbackHost } from "../std/loopback.ts";
import {
  ifSet,
  list,
  listenAddress,
  networks,
  oneOf,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** The listener of Wyoming, the protocol of Home Assistant. */
export interface WyomingSettings {
  readonly host: string;
  readonly port: number;
  /** The file with the API key under which all of its calls run. */
  readonly keyFile: string;
  /** The networks (CIDR) that may connect in addition to this machine. */
  readonly allowFrom: readonly string[];
  /** Whether it is announced by multicast DNS. */
  readonly isAnnounced: boolean;
}

type Address = Pick<WyomingSettings, "host" | "port">;

export const wyomingSettings = {
  listen: {
    name: "HLUST_WYOMING_LISTEN",
    meaning:
      "Address for Home Assistant and other programs that speak Wyoming (docs/dialects.md), such as 127.0.0.1:10300; the protocol has no keys",
    fallback: "none: nothing listens",
    parse: ifSet((text, name) => listenAddress(text, name, "127.0.0.1:10300 or [::1]:10300")),
  },
  keyFile: {
    name: "HLUST_WYOMING_KEY_FILE",
    meaning:
      "File with the API key under which all calls over Wyoming run; it needs the scope speech",
    fallback: "api-key in HLUST_DATA, which is the first key",
    parse: ifSet((text) => resolve(text)),
  },
  allowFrom: {
    name: "HLUST_WYOMING_ALLOW_FROM",
    meaning:
      "Networks (CIDR) that may connect over Wyoming without a key, comma-separated, such as 192.168.1.0/24; required if HLUST_WYOMING_LISTEN is not an address of this machine only",
    fallback: "none: this machine only",
    isList: true,
    parse: (text, name) => networks(list(text), name),
  },
  announce: {
    name: "HLUST_WYOMING_ANNOUNCE",
    meaning:
      "Whether Home Assistant on the same network finds the service: true announces it by multicast DNS (docs/dialects.md)",
    fallback: "false",
    parse: (text, name) => oneOf(text ?? "false", name, ["true", "false"] as const) === "true",
  },
} satisfies {
  readonly listen: Setting<Address | undefined>;
  readonly keyFile: Setting<string | undefined>;
  readonly allowFrom: Setting<readonly string[]>;
  readonly announce: Setting<boolean>;
};

/**
 * Reads the settings as a whole. Returns undefined if nothing is to listen. Invalid settings are
 * added to `problems`.
 */
export function readWyoming(
  read: ReadSetting,
  dataFolder: string,
  problems: string[],
): WyomingSettings | undefined {
  const address = read<Address | undefined>(wyomingSettings.listen);
  const keyFile = read<string | undefined>(wyomingSettings.keyFile);
  const allowFrom = read<readonly string[]>(wyomingSettings.allowFrom);
  const isAnnounced = read<boolean>(wyomingSettings.announce);
  if (!address) {
    const others = [
      ...(keyFile === undefined ? [] : [wyomingSettings.keyFile.name]),
      ...(allowFrom.length === 0 ? [] : [wyomingSettings.allowFrom.name]),
      ...(isAnnounced ? [wyomingSettings.announce.name] : []),
    ];
    for (const name of others) {
      problems.push(`${name} is set, but ${wyomingSettings.listen.name} is not`);
    }
    return undefined;
  }
  const isLocal = isLoopbackHost(hostInUrl(address.host));
  if (isLocal && isAnnounced) {
    problems.push(
      `${wyomingSettings.announce.name} is true, but ${wyomingSettings.listen.name} is ${hostInUrl(address.host)}:${address.port}, which other machines cannot reach: set ${wyomingSettings.listen.name} to an address of the network, such as 0.0.0.0:${address.port}, or ${wyomingSettings.announce.name} to false`,
    );
  }
  if (!isLocal && allowFrom.length === 0) {
    problems.push(
      `${wyomingSettings.listen.name} is ${hostInUrl(address.host)}:${address.port}, which other machines can use without a key: set ${wyomingSettings.allowFrom.name} to the networks that may, such as 192.168.1.0/24`,
    );
  }
  return { ...address, keyFile: keyFile ?? join(dataFolder, "api-key"), allowFrom, isAnnounced };
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
