import { readFileSync } from "node:fs";
import { openMediaHost } from "../../test/spec/media-host.ts";
import { submitJob, untilProgress } from "../jobs/job-calls.ts";
import { makeRecording } from "../jobs/recording.ts";
import { spentBetween, TreeWatch } from "../jobs/service-tree.ts";
import type { Figure } from "../report.ts";
import { transcribe, withService } from "./transcribe.ts";

const ratioMax = 1.05;

/**
 * Compares the CPU time of a long recording by POST /v1/audio/transcriptions with that of a job of
 * the same recording: the job before and after.
 */
export async function measureLong(
  folder: string,
  { minutes }: { readonly minutes: number },
): Promise<Figure[]> {
  using recording = makeRecording(folder, 60 * minutes);
  const bytes = readFileSync(recording.file);
  await using host = await openMediaHost({ "/long.mp3": bytes });
  const environment = { HLUST_ENGINE_PROCESSES: "", HLUST_KEEP_MEDIA: "false" };
  return await withService(environment, async (service) => {
    using watch = new TreeWatch([service.pid]);
    const spent = async (run: () => Promise<void>) => {
      const before = await watch.look();
      await run();
      return spentBetween(before, await watch.look());
    };
    const job = async () =>
      await spent(async () =>
        untilProgress(service, await submitJob(service, `${host.address}/long.mp3`)),
      );
    const before = await job();
    const call = await spent(async () => {
      await transcribe(service, new Blob([new Uint8Array(bytes)]), "en");
    });
    const after = await job();
    const seconds = (of: { readonly cpuMs: number }) => `${(of.cpuMs / 1000).toFixed(1)} s`;
    return [
      {
        name: `${minutes} min in one call, of a job`,
        ratio: (2 * call.cpuMs) / (before.cpuMs + after.cpuMs),
        ratioMax,
        note: `CPU: job ${seconds(before)}, call ${seconds(call)}, job ${seconds(after)}; by the clock ${((2 * call.wallMs) / (before.wallMs + after.wallMs)).toFixed(2)}`,
      },
    ];
  });
}
