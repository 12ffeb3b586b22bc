/**
 * The uses of a model, which are also the recognition modes of the service. live: words while they
 * are spoken. short: recordings of clients that wait. job: recordings, with the best
 * quality.
 */
export const modelUses = ["live", "short", "job"] as const;
export type ModelUse = (typeof modelUses)[number];

/** The models that the operator chooses for a language, or for one use of it. */
export type ModelChoice = readonly {
  readonly languageCode: string;
  /** undefined means all uses. */
  readonly use: ModelUse | undefined;
  readonly model: string;
}[];
