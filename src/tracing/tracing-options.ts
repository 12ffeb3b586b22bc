/** The samplers of OTEL_TRACES_SAMPLER. */
export const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Where and how spans are sent: the OTEL_ variables. */
export interface TracingOptions {
  /** The URL to which spans are posted, as JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The attributes of this process, such as service.name. */
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: (typeof samplers)[number];
  /** The share of traces that a ratio sampler takes, 0 to 1. */
  readonly samplerRatio: number;
  /** The time limit of one export. */
  readonly timeoutMs: number;
  /** The maximum number of spans that wait to be sent. Others are dropped, and counted. */
  readonly queueMax: number;
  /** The time between two exports. */
  readonly delayMs: number;
}
