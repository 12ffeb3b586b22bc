import type { Kysely } from "kysely";
import { isDatabaseTrouble } from "../database/database-trouble.ts";
import type { ModelTestFigures } from "../database/job-tables.ts";
import type { Tables } from "../database/tables.ts";
import { recognizeSample } from "../engines/pool/recognize-sample.ts";
import { tryModel } from "../engines/pool/try-model.ts";
import { readCatalogue } from "../models/catalogue.ts";
import { removeModel } from "../models/install-model.ts";
import { readModels, type ModelFolders } from "../models/models-folder.ts";
import { pullModel } from "../models/pull-model.ts";
import { errorFields, type Log } from "../std/log.ts";
import { openRepeat, repeat } from "../std/repeat.ts";
import { ServiceError } from "../std/service-error.ts";
import {
  endModelTask,
  leaseModelTask,
  releaseModelTask,
  reportModelTask,
  type LeasedModelTask,
  type ModelTaskProgress,
} from "./model-task-store.ts";

export interface ModelTaskWorkerParts {
  readonly db: Kysely<Tables>;
  readonly folders: ModelFolders;
  /** The id of the models folder, which the node can write to. */
  readonly folderId: string;
  readonly catalogueFile: string;
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys: Readonly<Record<string, string>>;
  readonly log: Log;
}

/** The interval at which the worker looks for tasks. */
const everyMs = 2_000;
/** The interval at which progress is stored, and at which a cancellation is noticed. */
const reportMs = 1_000;
/** How long disposal waits for the task in progress to end. */
const stopMsMax = 5_000;

const cancelled = new Error("the task was cancelled");
const lost = new Error("another node has the task");

/**
 * Does the tasks of a models folder, one after the other, until it is disposed of. The task in
 * progress is then left to the next node with this folder.
 */
export function openModelTaskWorker(parts: ModelTaskWorkerParts): AsyncDisposable {
  const { db, folderId, log } = parts;
  const event = "model_task.not_leased";
  const failing = { isWarning: isDatabaseTrouble, logsFirstOnly: true };
  return openRepeat({ everyMs, ...failing, log, event, stopMsMax }, async (stopping) => {
    const task = await leaseModelTask(db, folderId);
    if (task) await doTask(parts, task, stopping);
  });
}

async function doTask(
  parts: ModelTaskWorkerParts,
  task: LeasedModelTask,
  stopping: AbortSignal,
): Promise<void> {
  const { db, log } = parts;
  const facts = { task: task.id, kind: task.kind, model: task.model };
  log.info(facts, "model_task.begun");
  const ending = new AbortController();
  const signal = AbortSignal.any([stopping, ending.signal]);
  let progress: ModelTaskProgress = { phase: "", receivedBytes: 0, totalBytes: 0 };
  const reported = new AbortController();
  const options = { everyMs: reportMs, log, event: "model_task.not_reported" };
  const reports = repeat({ ...options, signal: reported.signal }, async () => {
    const next = await reportModelTask(db, task, progress);
    if (next === "cancel") ending.abort(cancelled);
    else if (next === "lost") ending.abort(lost);
  });
  try {
    const result = await work(parts, task, signal, (now) => {
      progress = now;
    });
    await reportModelTask(db, task, progress);
    await endModelTask(db, task, { state: "SUCCEEDED", result });
    log.info(facts, "model_task.succeeded");
  } catch (error) {
    await endFailed(parts, task, { error, reason: ending.signal.reason, stopping });
  } finally {
    reported.abort();
    await reports;
  }
}

async function endFailed(
  { db, log }: ModelTaskWorkerParts,
  task: LeasedModelTask,
  end: { readonly error: unknown; readonly reason: unknown; readonly stopping: AbortSignal },
): Promise<void> {
  const { error, reason, stopping } = end;
  if (reason === lost) return;
  if (reason === cancelled) {
    await endModelTask(db, task, { state: "CANCELLED" });
    return;
  }
  if (stopping.aborted) {
    await releaseModelTask(db, task);
    return;
  }
  // Other failures have texts that are not meant for the caller of the API.
  const isKnown = error instanceof ServiceError;
  const failure = isKnown ? error.message : "it failed: see the log of the node";
  log.warn({ ...errorFields(error), task: task.id }, "model_task.failed");
  await endModelTask(db, task, { state: "FAILED", failure });
}

/** Returns the figures of a test. */
async function work(
  { folders, catalogueFile, modelKeys }: ModelTaskWorkerParts,
  { kind, model }: LeasedModelTask,
  signal: AbortSignal,
  onProgress: (progress: ModelTaskProgress) => void,
): Promise<ModelTestFigures | undefined> {
  if (kind === "PULL") {
    const entries = await readCatalogue(catalogueFile);
    const entry = entries.find(({ card }) => card.name === model);
    if (!entry) throw new ServiceError("not_found", `the catalogue of the node has no ${model}`);
    const modelsFolder = folders.installed;
    const verify = async (folder: string) => await tryModel(folder);
    await pullModel(entry, { modelsFolder, verify, onProgress, signal });
    return undefined;
  }
  if (kind === "REMOVE") {
    await removeModel(folders, model);
    return undefined;
  }
  const { models } = await readModels(folders);
  const found = models.find(({ card }) => card.name === model);
  if (!found) throw new ServiceError("not_found", `no model ${model} is installed`);
  return await recognizeSample(found, { modelsFolder: folders.installed, modelKeys, signal });
}
