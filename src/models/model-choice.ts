/**
 * What a model is for, which is also how the service recognizes. live: words while they are spoken.
 * short: recordings of clients that wait. job: recordings, best quality.
 */
export const modelUses = ["live", "short", "job"] as const;
export type ModelUse = (typeof modelUses)[number];

/** Models that the operator chooses for a language, or for one use of it. */
export type ModelChoice = readonly {
  readonly languageCode: string;
  /** undefined: for all uses. */
  readonly use: ModelUse | undefined;
  readonly model: string;
}[];
