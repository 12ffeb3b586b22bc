import { ApiError } from "../api/api-error.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { signInProblems } from "../text/sign-in.ts";

/** Why signing in went wrong, and what to do. */
export function SignInProblem({
  error,
  onRetry,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}) {
  return <ProblemNote error={inOurWords(error)} own={signInProblems} onRetry={onRetry} />;
}

/** What addresses say went wrong. */
const reasons = new Set([...Object.keys(signInProblems), "TOO_MANY_REFUSED"]);

/**
 * Anybody may write an address: what it says went wrong is shown only where it is a reason that
 * there is.
 */
function inOurWords(error: unknown): unknown {
  const isOfAddress = error instanceof ApiError && error.status === 0 && error.reason !== "OFFLINE";
  if (!isOfAddress || reasons.has(error.reason)) return error;
  return new ApiError(error.message, { status: 0, reason: "UNKNOWN" });
}
