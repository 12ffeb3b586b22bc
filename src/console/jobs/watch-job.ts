import type { TranscriptJobJson } from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { jobOf, type Job } from "./job.ts";

/**
 * Follows a job until it has ended (:watch, server-sent events). `onBroken`: it is followed no
 * more, as past the limit of watches, or until the next onJob(), where the browser connects again
 * by itself. Call the answer to stop.
 */
export function watchJob(
  name: string,
  tell: { readonly onJob: (job: Job) => void; readonly onBroken: () => void },
): () => void {
  const source = new EventSource(`/console/api/v1alpha1/${name}:watch`);
  source.addEventListener("message", ({ data }: MessageEvent<string>) => {
    const { result }: { readonly result?: TranscriptJobJson } = JSON.parse(data);
    if (result) tell.onJob(jobOf(result));
  });
  source.addEventListener("end", () => source.close());
  source.addEventListener("error", () => tell.onBroken());
  return () => source.close();
}
