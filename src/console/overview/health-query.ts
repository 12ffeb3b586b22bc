import { queryOptions } from "@tanstack/react-query";
import { offlineError } from "../api/api-error.ts";

/** The answer of /readyz, when all parts of the service are ready (200) and when not (503). */
export interface HealthReport {
  readonly status: string;
  readonly parts: Readonly<Record<string, PartHealth | undefined>>;
}

interface PartHealth {
  readonly ready: boolean;
  /** Engines only: the processes that are ready, and the number of all. */
  readonly running?: number;
  readonly processes?: number;
  /** Sandbox only: `bubblewrap` or `reduced`. */
  readonly kind?: string;
}

/** How often it is polled while the page is visible. */
const pollMs = 10_000;

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => readHealth(signal),
  refetchInterval: pollMs,
});

/** Throws ApiError with OFFLINE if there is no answer, or none of the service. */
async function readHealth(signal: AbortSignal): Promise<HealthReport> {
  try {
    const answer: HealthReport = await (await fetch("/readyz", { signal })).json();
    return answer;
  } catch (error) {
    if (signal.aborted) throw error;
    throw offlineError();
  }
}
