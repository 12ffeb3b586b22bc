import { queryOptions } from "@tanstack/react-query";
import { offlineError } from "../api/api-error.ts";

/**
 * What /readyz tells of the parts of the service, whether all of them are ready (200) or not (503).
 */
export interface Health {
  readonly status: string;
  readonly parts: Readonly<Record<string, PartHealth | undefined>>;
}

interface PartHealth {
  readonly ready: boolean;
  /** Of the engines: processes that can recognize, of all. */
  readonly running?: number;
  readonly processes?: number;
  /** Of the sandbox: `bubblewrap`, or `reduced`. */
  readonly kind?: string;
}

/** How often it is asked for while the page is looked at. */
const askMs = 10_000;

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => readHealth(signal),
  refetchInterval: askMs,
});

/** Throws ApiError, OFFLINE, where nothing that is the service answers. */
async function readHealth(signal: AbortSignal): Promise<Health> {
  try {
    const answer: Health = await (await fetch("/readyz", { signal })).json();
    return answer;
  } catch (error) {
    if (signal.aborted) throw error;
    throw offlineError();
  }
}
