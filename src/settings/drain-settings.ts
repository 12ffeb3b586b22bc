import { duration, type ReadSetting, type Setting } from "../std/setting.ts";

/** How a node shuts down after SIGTERM. */
export interface DrainConfig {
  /** How long it still answers new calls, while its health reports the shutdown. */
  readonly delayMs: number;
  /** How long it then waits for open calls and streams, and refuses new ones. */
  readonly msMax: number;
}

export const drainSettings = {
  delayMs: {
    name: "HLUST_DRAIN_DELAY",
    meaning:
      "Time for which a node that shuts down still answers new calls while /readyz is 503, so that load balancers switch to other nodes: seconds, or 90s, 5m; at most 10m",
    fallback: "0; use 10s behind a load balancer",
    isLive: true,
    parse: (text, name) => duration(text ?? "0", name, 10 * 60_000),
  },
  msMax: {
    name: "HLUST_DRAIN",
    meaning:
      "Longest time for which a node that shuts down waits for open streams and calls, and refuses new ones: seconds, or 90s, 5m, 2h; at most 24h",
    fallback: "30s",
    isLive: true,
    parse: (text, name) => duration(text ?? "30s", name, 24 * 3_600_000),
  },
} satisfies { [Key in keyof DrainConfig]: Setting<number> };

export function readDrain(read: ReadSetting): DrainConfig {
  return { delayMs: read(drainSettings.delayMs), msMax: read(drainSettings.msMax) };
}
