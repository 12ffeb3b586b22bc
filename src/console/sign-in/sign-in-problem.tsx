import { ApiError } from "../api/api-error.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { signInProblems } from "../text/sign-in.ts";

/** Why signing in failed, and what to do next. */
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

/** Replaces an unknown reason. Anyone can write an address, so only known reasons are shown. */
function withKnownReason(error: unknown): unknown {
  const isFromAddress =
    error instanceof ApiError && error.status === 0 && error.reason !== "OFFLINE";
  if (!isFromAddress || reasons.has(error.reason)) return error;
  return new ApiError(error.message, { status: 0, reason: "UNKNOWN" });
}
