import { ApiError } from "../api/api-error.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { signInProblems } from "../text/sign-in.ts";

/** Why signing in failed, and what to do. */
export function SignInProblem({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  return <ProblemNote error={withKnownReason(error)} own={signInProblems} onRetry={onRetry} />;
}

/** The reasons that an address may contain. */
const reasons = new Set([...Object.keys(signInProblems), "TOO_MANY_REFUSED"]);

/** Anyone can write an address: its reason is shown only if it is one of the known ones. */
function withKnownReason(error: unknown): unknown {
  const isFromAddress =
    error instanceof ApiError && error.status === 0 && error.reason !== "OFFLINE";
  if (!isFromAddress || reasons.has(error.reason)) return error;
  return new ApiError(error.message, { status: 0, reason: "UNKNOWN" });
}
