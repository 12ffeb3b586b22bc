import type { ErrorComparison } from "./compare-errors.ts";
import type { Normalization } from "./normalization/normalize-words.ts";
import type { SystemReport } from "./summarize-results.ts";

/** All that an evaluation found, for the reports as text, JSON and HTML. */
export interface Evaluation {
  /** The path of the manifest. */
  readonly manifest: string;
  readonly normalization: Normalization;
  readonly resampling: { readonly seed: number; readonly samples: number };
  readonly system: SystemReport;
  /** The system with which the first one is compared, and the comparison. */
  readonly against?: {
    readonly system: SystemReport;
    readonly words: ErrorComparison;
    readonly characters: ErrorComparison;
  };
}

/** A difference with a p below this is called significant. */
export const significantP = 0.05;
