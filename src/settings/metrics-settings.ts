import { isLoopbackHost } from "../std/loopback.ts";
import {
  ConfigError,
  ifSet,
  listenAddress,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** Where the metrics of this node are read. */
export interface MetricsSettings {
  /** The listener of the metrics; undefined if they are on the common port. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly token: string | undefined;
}

/** The minimum length of a token, which is too long to guess if it is random. */
const metricsTokenLengthMin = 16;

export const metricsSettings = {
  listen: {
    name: "HLUST_METRICS_LISTEN",
    meaning:
      "Address for Prometheus, such as 127.0.0.1:9464, with /metrics, /healthz and /readyz; an address that other machines can reach needs a token as well",
    fallback: "none: nothing listens",
    parse: ifSet((text, name) => listenAddress(text, name, "127.0.0.1:9464 or [::1]:9464")),
  },
  token: {
    name: "HLUST_METRICS_TOKEN",
    meaning:
      "Bearer token that /metrics needs; without HLUST_METRICS_LISTEN, /metrics is then on HLUST_PORT",
    fallback: "none",
    secret: true,
    parse: ifSet(metricsToken),
  },
} satisfies {
  readonly listen: Setting<MetricsSettings["listen"]>;
  readonly token: Setting<string | undefined>;
};

/** Checks a token. Throws ConfigError, which does not show it. */
function metricsToken(text: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length >= metricsTokenLengthMin) return text;
  throw new ConfigError(
    `${name} must be at least ${metricsTokenLengthMin} printable ASCII characters without spaces, not ${text.length}: use openssl rand -hex 32`,
  );
}

/**
 * Reads the settings as a whole. Returns undefined if the node has no metrics. Invalid settings are
 * added to `problems`.
 */
export function readMetrics(read: ReadSetting, problems: string[]): MetricsSettings | undefined {
  const listen = read<MetricsSettings["listen"]>(metricsSettings.listen);
  const token = read<string | undefined>(metricsSettings.token);
  const hasToken = token !== undefined;
  if (!listen && !hasToken) return undefined;
  const host = listen?.host.includes(":") === true ? `[${listen.host}]` : listen?.host;
  if (listen && host !== undefined && !isLoopbackHost(host) && !hasToken) {
    problems.push(
      `${metricsSettings.listen.name} is ${host}:${listen.port}, which other machines can reach: set ${metricsSettings.token.name} as well, or listen on 127.0.0.1`,
    );
  }
  return { listen, token };
}
