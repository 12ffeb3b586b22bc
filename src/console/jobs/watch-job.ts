import type { TranscriptJobJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jobOf, type Job } from "./job.ts";

/**
 * Follows a job until it ends (:watch, server-sent events). `onBroken` is called when updates have
 * stopped: either for good (for example at the limit on watches), or until the browser has
 * reconnected and onJob() is called again. Returns a function that stops watching.
 */
export function watchJob(
  name: string,
  { onJob, onBroken }: { readonly onJob: (job: Job) => void; readonly onBroken: () => void },
): () => void {
  const source = new EventSource(`/console/api/v1alpha1/${name}:watch`);
  source.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const { result }: { readonly result?: TranscriptJobJson } = JSON.parse(data);
    if (result) onJob(jobOf(result));
  });
  source.addEventListener("end", () => source.close());
  source.addEventListener("error", () => onBroken());
  return () => source.close();
}
