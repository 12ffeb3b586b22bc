import { setTimeout as sleep } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import type { HlustClient } from "../client/hlust-client.ts";
import {
  TranscriptJob_State as State,
  type TranscriptJob,
} from "../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** How long a service that cannot be reached is waited for, and the pause between attempts. */
const [unreachableMsMax, pauseMs] = [300_000, 1_000];

/**
 * Waits until a job has ended, and reports it after each change. Watches again when the service
 * restarts. Returns the job with a transcript. Throws ConnectError, or the reason why there is no
 * transcript.
 */
export async function watchJob(
  hlust: HlustClient,
  name: string,
  { signal, onChange }: { signal: AbortSignal; onChange: (job: TranscriptJob) => void },
): Promise<TranscriptJob> {
  let unreachableSinceMs: number | undefined;
  for (;;) {
    try {
      for await (const job of hlust.transcripts.watchTranscriptJob({ name }, { signal })) {
        unreachableSinceMs = undefined;
        onChange(job);
        if (job.state === State.SUCCESS) return job;
        if (job.result.case === "error") throw new Error(job.result.value.message);
      }
    } catch (error) {
      const isUnreachable = error instanceof ConnectError && error.code === Code.Unavailable;
      if (!isUnreachable || signal.aborted) throw error;
      unreachableSinceMs ??= performance.now();
      if (performance.now() - unreachableSinceMs > unreachableMsMax) throw error;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}
