import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../std/service-error.ts";

/** The wait before a recording is tried again that the busy machine did not admit. */
const retryMs = 1_000;
/** After this time, a recording that is not admitted counts as failed. */
const admissionMsMax = 600_000;

/** Repeats a recognition from its start until the machine has room for it. */
export async function whenAdmitted<T>(recognize: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    try {
      return await recognize();
    } catch (error) {
      const isBusy = error instanceof ServiceError && error.code === "resource_exhausted";
      if (!isBusy || performance.now() - startedAt > admissionMsMax) throw error;
      await sleep(retryMs);
    }
  }
}
