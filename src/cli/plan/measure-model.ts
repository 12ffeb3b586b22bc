import { readdir, readFile } from "node:fs/promises";
import { type EnginePool, openEnginePool } from "../../engines/pool/engine-pool.ts";
import { findModels, type LoadableModel } from "../../engines/pool/loadable-models.ts";
import { inChunks, readSample, type SpeechSamples } from "../../engines/pool/recognize-sample.ts";
import type { RecognitionMode } from "../../engines/protocol/engine.ts";
import { memoryOf } from "../../models/model-memory.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { pssBytes } from "../bench/process-tree.ts";
import { nearestNames } from "../nearest-names.ts";
import type { ModelFigures } from "./plan-cluster.ts";

/** The first round warms the engine up, and the least of all counts. */
const roundsMin = 2;
const roundsMax = 10;
/** CPU time after which no further round is begun. */
const measuringMsMax = 2000;
const silenceSeconds = 10;

/** Where the models are: the settings with these names. */
export interface ModelSettings {
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  readonly modelsFolder: string;
}

/**
 * Loads an installed model in an engine process, recognizes the sample of its language, and
 * measures what that costs on this machine. Throws ServiceError if there is no such model, or it
 * cannot be measured here.
 */
export async function measureModel(name: string, settings: ModelSettings): Promise<ModelFigures> {
  const model = await installedModel(name, settings);
  const speech = await readSample(model.languageCodes);
  const { sampleRateHertz } = speech;
  const silence = { samples: new Int16Array(silenceSeconds * sampleRateHertz), sampleRateHertz };
  await using pool = await openEnginePool({
    ...settings,
    only: name,
    processes: 1,
    log: createLog("fatal"),
  });
  const cost = async (samples: SpeechSamples, mode: RecognitionMode) =>
    await leastCost(pool, { model, samples, mode });
  const { uses } = model;
  const live = uses.includes("live")
    ? { speech: await cost(speech, "live"), silence: await cost(silence, "live") }
    : undefined;
  const job = uses.includes("job") ? await cost(speech, "job") : undefined;
  const processBytes = (await pssBytes(processOf(pool, name))) ?? memoryOf(model.bytes);
  return { name, live, job, processBytes, modelBytes: model.bytes };
}

async function installedModel(name: string, settings: ModelSettings): Promise<LoadableModel> {
  const { models, refused } = await findModels(settings.engine, settings.modelsFolder);
  const model = models.find((each) => each.name === name);
  if (!model) {
    const broken = refused.find(({ folder }) => folder.endsWith(`/${name}`));
    if (broken) throw unmeasurable(`${broken.folder}: ${broken.reason}`);
    const names = models.map((each) => each.name);
    throw new ServiceError(
      "not_found",
      `--model: no model ${JSON.stringify(name)} is installed${nearestNames(name, names)}; \`hlust models list\` has the names`,
    );
  }
  if (model.isHosted === true) {
    throw unmeasurable(`--model: ${name} is at a server elsewhere, and its cost is that server's`);
  }
  if (model.uses.length === 0) {
    throw unmeasurable(`--model: ${name} recognizes no words: choose a model that does`);
  }
  return model;
}

/** Returns the CPU seconds of the engine process for a second of this audio. */
async function leastCost(
  pool: EnginePool,
  {
    model,
    samples,
    mode,
  }: {
    readonly model: LoadableModel;
    readonly samples: SpeechSamples;
    readonly mode: RecognitionMode;
  },
): Promise<number> {
  const languageCode = model.languageCodes[0] ?? "";
  const { sampleRateHertz } = samples;
  const pid = processOf(pool, model.name);
  const startMs = await cpuMsOf(pid);
  let leastMs = Infinity;
  for (let round = 0; round < roundsMax; round++) {
    const roundMs = await cpuMsOf(pid);
    if (round >= roundsMin && roundMs - startMs > measuringMsMax) break;
    const chunks = inChunks(samples.samples, sampleRateHertz);
    // Streams are admitted as if all had quick effort; full effort uses what is left.
    const options = { languageCode, mode, sampleRateHertz, effort: "quick" } as const;
    for await (const _ of pool.recognize(chunks, options));
    leastMs = Math.min(leastMs, (await cpuMsOf(pid)) - roundMs);
  }
  return leastMs / 1000 / (samples.samples.length / sampleRateHertz);
}

function processOf(pool: EnginePool, name: string): number {
  const pid = pool.measures().pids.get(name)?.[0];
  if (pid === undefined) throw unmeasurable(`${name}: its engine process has ended`);
  return pid;
}

/** Returns the CPU time of all threads of a process so far, by the counters of the scheduler. */
async function cpuMsOf(pid: number): Promise<number> {
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => []);
  if (threads.length === 0) throw unmeasurable(`${folder} cannot be read: /proc is needed`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`${folder}/${thread}/schedstat`, "utf8").catch(() => "")),
  );
  return texts.reduce((sum, text) => sum + Number(text.split(" ")[0]) / 1e6, 0);
}

function unmeasurable(message: string): ServiceError {
  return new ServiceError("failed_precondition", message);
}
