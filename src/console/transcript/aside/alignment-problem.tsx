import { ApiError } from "../../api/api-error.ts";
import { ProblemNote } from "../../parts/problem-note.tsx";
import { alignmentProblems } from "../../text/alignment-problems.ts";
import { jobFailure } from "../../text/job-failures.ts";

/** Why an alignment failed or could not be started. It is loaded when there is a problem. */
export function AlignmentProblem({ error }: { readonly error: Error }) {
  return <ProblemNote error={error} own={problemsOf(error)} />;
}

/** Returns the problems of alignment, with that of the job's own message. */
function problemsOf(error: Error) {
  if (!(error instanceof ApiError) || !error.reason.startsWith("MEDIA_")) return alignmentProblems;
  return { ...alignmentProblems, [error.reason]: jobFailure(error.message) };
}
