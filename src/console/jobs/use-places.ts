import { useQuery } from "@tanstack/react-query";
import { type Job, listJobs } from "./job.ts";

/** How often the places are read while a job waits: no event reports that they have changed. */
const readMs = 5_000;

/** The number of jobs before each waiting job of the first page of the list, by the job's name. */
type Places = ReadonlyMap<string, number>;

/** Returns the places in the queue of the jobs that wait. */
export function usePlaces(jobs: readonly Job[]): Places {
  const isAnyWaiting = jobs.some(
    ({ state }) => state.kind === "PROCESSING" && state.percent === 0 && !state.needsContent,
  );
  const { data = none } = useQuery({
    queryKey: ["job-places"],
    queryFn: async ({ signal }): Promise<Places> => {
      const first = await listJobs("", signal);
      return new Map(
        first.jobs.flatMap(({ name, jobsBefore }) =>
          jobsBefore === undefined ? [] : [[name, jobsBefore]],
        ),
      );
    },
    enabled: isAnyWaiting,
    refetchInterval: readMs,
  });
  return isAnyWaiting ? data : none;
}

const none: Places = new Map();
