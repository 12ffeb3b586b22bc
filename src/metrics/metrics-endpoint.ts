import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { contentTypes, type MetricsFormat } from "./metrics-format.ts";
import type { Metrics } from "./metrics.ts";

/** The path of the metrics. */
export const metricsPath = "/metrics";

/** An answer over HTTP. */
export interface ScrapeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

/** Returns the answer to a scrape, which needs `token` as a bearer token if there is one. */
export async function scrapeAnswer(
  request: Pick<IncomingMessage, "headers"> & { readonly method?: string | undefined },
  { metrics, token }: { readonly metrics: Metrics; readonly token: string | undefined },
): Promise<ScrapeAnswer> {
  if (token !== undefined && !showsToken(request.headers.authorization, token)) {
    const problem = "the metrics need the bearer token of HLUST_METRICS_TOKEN";
    return plainAnswer(401, problem, { "www-authenticate": "Bearer" });
  }
  if (request.method !== "GET" && request.method !== "HEAD") {
    return plainAnswer(405, "the metrics are read by GET", { allow: "GET, HEAD" });
  }
  const format = formatOf(request.headers.accept ?? "");
  const body = Buffer.from(await metrics.scrape(format));
  const headers = {
    "content-type": contentTypes[format],
    "content-length": body.length,
    "cache-control": "no-store",
  };
  return { status: 200, headers, body: request.method === "HEAD" ? Buffer.alloc(0) : body };
}

/** Returns an answer of one sentence. */
export function plainAnswer(
  status: number,
  sentence: string,
  headers: Readonly<Record<string, string | number>> = {},
): ScrapeAnswer {
  const body = Buffer.from(`${sentence}\n`);
  const type = { "content-type": "text/plain; charset=utf-8", "content-length": body.length };
  return { status, headers: { ...type, "cache-control": "no-store", ...headers }, body };
}

/** Prometheus sends its preferences in order, and asks for OpenMetrics first if it takes it. */
function formatOf(accept: string): MetricsFormat {
  return /\bapplication\/openmetrics-text\b/.test(accept) ? "openmetrics" : "prometheus";
}

function showsToken(authorization: string | undefined, token: string): boolean {
  const shown = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  // Digests have the same length, so that the time of the comparison depends on neither.
  return shown !== undefined && timingSafeEqual(digest(shown), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
