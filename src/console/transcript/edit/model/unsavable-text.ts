import type { SaveProblem } from "./problems.ts";

/** An edited text that the service would refuse. */
export class UnsavableTextError extends Error {
  override readonly name = "UnsavableTextError";
  readonly problems: readonly SaveProblem[];

  constructor(problems: readonly SaveProblem[]) {
    super(`the text has ${problems.length} problems`);
    this.problems = problems;
  }
}
