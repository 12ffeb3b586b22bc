import type { TranscriptJobJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ApiError } from "../api/api-error.ts";
import { callApi } from "../api/call-api.ts";
import { jobOf, jobsAt, type Job } from "./job.ts";

/** The number of jobs that are removed at the same time. */
const concurrent = 3;

/**
 * Removes jobs that have ended from the list, by their names. Those that are gone already count as
 * removed. Throws ApiError.
 */
export async function removeJobs(names: readonly string[]): Promise<void> {
  const waiting = [...names];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      try {
        await callApi(`/v1alpha1/${name}`, { method: "DELETE" });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) continue;
        // The others stay in the list.
        waiting.length = 0;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: concurrent }, work));
  const failed = results.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** Returns the names of all jobs of the account that have ended, newest first. Throws ApiError. */
export async function finishedJobs(): Promise<readonly string[]> {
  const names: string[] = [];
  let token = "";
  do {
    const query = token === "" ? "" : `&pageToken=${encodeURIComponent(token)}`;
    const { jobs, nextToken } = await jobsAt(`?pageSize=1000${query}`);
    for (const { name, state } of jobs) if (state.kind !== "PROCESSING") names.push(name);
    token = nextToken;
  } while (token !== "");
  return names;
}

/** Cancels a job. Throws ApiError, with the reason JOB_ENDED if the job has already ended. */
export async function cancelJob({ name }: Job): Promise<Job> {
  const answer: TranscriptJobJson = await callApi(`/v1alpha1/${name}:cancel`, {
    method: "POST",
    body: {},
  });
  return jobOf(answer);
}

/**
 * Submits the recording of a job that failed or was cancelled again, with all options of its
 * request. Several calls with the same `key` create one job. Throws ApiError.
 */
export async function retryJob({ name }: Job, key: string): Promise<void> {
  await callApi<TranscriptJobJson>(`/v1alpha1/${name}:retry`, {
    method: "POST",
    body: {},
    headers: { "idempotency-key": key },
  });
}
