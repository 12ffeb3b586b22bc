import { join } from "node:path";
import { openAlignmentWorker } from "./alignment/alignment-worker.ts";
import type { Config } from "./config.ts";
import { openDescriber, type DescriberParts } from "./describe/describer.ts";
import { openArchiveSweep } from "./jobs/archive-sweep.ts";
import type { Arrivals } from "./jobs/arrivals.ts";
import { openContentSweep } from "./jobs/content/stale-content.ts";
import { EngineSlots } from "./jobs/worker/engine-slots.ts";
import { JobMedia } from "./jobs/worker/job-media.ts";
import { openWorker, type JobWorker, type WorkerParts } from "./jobs/worker/worker.ts";
import type { MediaStore } from "./media/media-store.ts";
import type { MediaAllowList } from "./media/media-url.ts";
import { openMailWorker } from "./mail/mail-worker.ts";
import type { QueueRecorder } from "./metrics/recorders.ts";
import { openDeliveryWorker } from "./webhooks/delivery-worker.ts";

/**
 * Opens the workers of jobs, of alignment jobs and of webhooks, the describer of uploads and the
 * sweep of the archive. Returns the workers of both kinds of jobs.
 */
export async function openJobWork(
  config: Config,
  parts: AsyncDisposableStack,
  given: JobWorkParts,
): Promise<readonly JobWorker[]> {
  const { database, arrivals, store, allow, recognizer, sandbox, meter, recorder, log } = given;
  const { db } = database;
  const scratchFolder = join(config.dataFolder, "scratch");
  const durationMsMax = config.recordingSecondsMax * 1000;
  const { keepMedia, uploadBytesMax: mediaBytesMax, engineProcesses: parallelism } = config;
  const { storedBytes: storedBytesMax } = config.accountLimits;
  const rules = { allow, keepMedia, mediaBytesMax, storedBytesMax };
  const media = new JobMedia({ db, store, scratchFolder, log }, rules);
  const slots = new EngineSlots(parallelism);
  const worker = parts.use(
    await openWorker({
      db,
      arrivals: arrivals.jobs,
      media,
      recognition: { recognizer, sandbox, durationMsMax },
      meter,
      parallelism,
      slots,
      recorder: recorder?.jobs("transcript"),
      log,
    }),
  );
  const alignment = parts.use(
    openAlignmentWorker({
      db,
      arrivals: arrivals.alignment,
      store,
      scratchFolder,
      sandbox,
      aligner: recognizer,
      slots,
      durationMsMax,
      parallelism,
      recorder: recorder?.jobs("alignment"),
      log,
    }),
  );
  parts.use(await openDescriber({ database, store, sandbox, scratchFolder, durationMsMax, log }));
  const { binDays, auditDays } = config;
  parts.use(openArchiveSweep({ db, store, log, binDays, auditDays }));
  parts.use(openContentSweep({ db, store, recorder: recorder?.jobs("transcript"), log }));
  parts.use(openDeliveryWorker({ database, allow: given.allowWebhooks, recorder, log }));
  const { sending: options } = config.mail;
  const hasProvider = config.openId !== undefined;
  if (options) parts.use(openMailWorker({ database, options, hasProvider, log }));
  return [worker, alignment];
}

type JobWorkParts = Pick<DescriberParts, "database" | "log"> &
  Pick<WorkerParts, "meter"> &
  Pick<WorkerParts["recognition"], "recognizer" | "sandbox"> & {
    readonly store: MediaStore;
    readonly allow: MediaAllowList;
    readonly allowWebhooks: MediaAllowList;
    /** Records jobs and webhooks, for the metrics of the node. */
    readonly recorder: QueueRecorder | undefined;
    readonly arrivals: { readonly jobs: Arrivals; readonly alignment: Arrivals };
  };
