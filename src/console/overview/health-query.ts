import { queryOptions } from "@tanstack/react-query";
import { offlineError } from "../api/api-error.ts";

/** The response of /readyz. Its status is 200 if all parts of the service are ready, else 503. */
export interface HealthReport {
  readonly status: string;
  readonly parts: Readonly<Record<string, PartHealth | undefined>>;
}

interface PartHealth {
  readonly ready: boolean;
  /** For engines only: the number of processes that are ready, and the number of all processes. */
  readonly running?: number;
  readonly processes?: number;
  /** For the sandbox only: `bubblewrap`, `bubblewrap-without-proc` or `reduced`. */
  readonly kind?: string;
}

/** How often /readyz is polled while the page is visible. */
const pollMs = 10_000;

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => readHealth(signal),
  refetchInterval: pollMs,
});

/**
 * Reads the health of the service. Throws ApiError with OFFLINE if there is no response, or if the
 * response is not the service's.
 */
async function readHealth(signal: AbortSignal): Promise<HealthReport> {
  try {
    const answer: HealthReport = await (await fetch("/readyz", { signal })).json();
    return answer;
  } catch (error) {
    if (signal.aborted) throw error;
    throw offlineError();
  }
}
