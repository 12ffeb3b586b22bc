import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { metricsPath, plainAnswer, scrapeAnswer } from "./metrics-endpoint.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsListenerOptions {
  readonly host: string;
  readonly port: number;
  /** The bearer token that scrapes need; undefined if they need none. */
  readonly token: string | undefined;
}

export interface MetricsListenerParts {
  readonly metrics: Metrics;
  /** Answers /healthz, /readyz and /startupz, and returns false for any other request. */
  readonly answerHealth: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface MetricsListener extends AsyncDisposable {
  /** The bound address as http://<host>:<port>. */
  readonly address: string;
}

/** A scraper keeps few connections open. */
const connectionsMax = 50;
const requestMsMax = 10_000;
const notServed = Promise.resolve(
  plainAnswer(404, "only /metrics, /healthz, /readyz and /startupz are served here"),
);

/**
 * Opens the listener of the metrics and health checks. Throws an Error that names the setting if
 * the address cannot be used.
 */
export async function openMetricsListener(
  { host, port, token }: MetricsListenerOptions,
  { metrics, answerHealth }: MetricsListenerParts,
): Promise<MetricsListener> {
  const server = createServer(
    { requestTimeout: requestMsMax, headersTimeout: requestMsMax },
    (request, response) => {
      if (answerHealth(request, response)) return;
      const isScrape = (request.url ?? "").split("?", 1)[0] === metricsPath;
      const answering = isScrape ? scrapeAnswer(request, { metrics, token }) : notServed;
      answering
        .then(({ status, headers, body }) => response.writeHead(status, headers).end(body))
        .catch(() => response.destroy());
    },
  );
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    throw new Error(problemOf(error, `${inUrl(host)}:${port}`), { cause: error });
  }
  const bound = server.address();
  const boundPort = typeof bound === "object" && bound !== null ? bound.port : port;
  return {
    address: `http://${inUrl(host)}:${boundPort}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns what is wrong with the address, as a sentence for the operator. */
function problemOf(error: unknown, address: string): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const what = `HLUST_METRICS_LISTEN is ${address}, but`;
  if (code === "EADDRINUSE") {
    return `${what} another program listens there: choose another port, or stop that program`;
  }
  if (code === "EADDRNOTAVAIL") return `${what} this machine does not have that address`;
  if (code === "EACCES") return `${what} this user may not use that port: choose one above 1023`;
  return `${what} it cannot be used: ${error instanceof Error ? error.message : String(error)}`;
}

function inUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
