/** The two text formats of a scrape. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** Their content types, as in prom-client, which is loaded only with metrics. */
export const contentTypes = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
} as const satisfies Readonly<Record<MetricsFormat, string>>;
