// `npm run bench:engines [-- --models folder] [-- --only name] [-- --rounds 3]` measures the CPU
// time per second of audio for every installed model, with 1, 4 and 16 concurrent streams. Each
// engine is measured when it is called directly (alone), and through streams of the service.
import { availableParallelism, cpus } from "node:os";
import { parseArgs } from "node:util";
import { findModels, type LoadableModel } from "../src/engines/pool/loadable-models.ts";
import { builtinModelsFolder } from "../src/models/models-folder.ts";
import { createLog } from "../src/std/log.ts";
import { decodeAlone, openAlone } from "./engines/alone.ts";
import { recognizeThroughPool } from "./engines/through-pool.ts";
import { type Speech, speechOf } from "./engines/speech.ts";

/**
 * The maximum that the service may add to an engine: a tenth, or 3.5 ms per second of audio. Pipes,
 * frames and resampling cost 1 to 3 ms with any model. This exceeds a tenth if the engine itself
 * takes less than 30 ms, and the fixed limit then applies.
 */
const ratioMax = 1.1;
const addedMsMax = 3.5;
/**
 * The numbers of concurrent streams. If a stream takes more than a tenth of a core, a process may
 * admit only one stream.
 */
const countsOf = (ownMs: number) => (ownMs > 100 ? [1] : [1, 4, 16]);

const { values } = parseArgs({
  options: {
    models: { type: "string", default: builtinModelsFolder },
    only: { type: "string" },
    rounds: { type: "string", default: "3" },
  },
});
const rounds = Number(values.rounds);
console.log(
  `machine  ${cpus()[0]?.model}, ${availableParallelism()} cores, Node ${process.versions.node}\n`,
);
const { models, refused } = await findModels("auto", values.models);
for (const { folder, reason } of refused) console.log(`refused  ${folder}: ${reason}`);
let isWithin = true;
const wanted = models.filter(({ name }) => values.only === undefined || name === values.only);
for (const model of wanted.filter(({ uses }) => uses.length > 0)) {
  isWithin = (await measure(model)) && isWithin;
}
if (!isWithin) process.exitCode = 1;

async function measure(model: LoadableModel): Promise<boolean> {
  const speech = speechOf(model.languageCodes[0] ?? "");
  const isLive = model.uses.includes("live");
  const mode = isLive ? "live" : "job";
  const { counts, alone } = await aloneCounts(model, speech, mode);
  const through = await leastOf(
    rounds,
    async () => await throughCounts(model, speech, { counts, mode }),
  );
  console.log(`${model.name} ${model.version} (${mode}), CPU ms per second of audio`);
  for (const [index, count] of counts.entries()) {
    const [own = NaN, service = NaN] = [alone[index], through[index]];
    const [one = NaN] = through;
    console.log(
      `  ${String(count).padStart(2)} at once: alone ${own.toFixed(2)}, through the service ${service.toFixed(2)} ` +
        `(${(service / own).toFixed(2)} times); ${(service / one).toFixed(2)} of what 1 takes`,
    );
  }
  const [ownOne = NaN] = alone;
  const [serviceOne = NaN] = through;
  const ratio = serviceOne / ownOne;
  const isGood = ratio <= ratioMax || serviceOne - ownOne <= addedMsMax;
  const isShared = !isLive || counts.length === 1 || (through.at(-1) ?? NaN) < serviceOne;
  console.log(
    isGood && isShared ? "" : `  OVER THE LIMIT (${ratioMax} times, or ${addedMsMax} ms more)\n`,
  );
  return isGood && isShared;
}

/** Opens the engine only once, because a process can load its library only once. */
async function aloneCounts(
  model: LoadableModel,
  speech: Speech,
  mode: "live" | "job",
): Promise<{ readonly counts: readonly number[]; readonly alone: readonly number[] }> {
  const engine = await openAlone(model);
  const first = { ...speech, utterances: speech.utterances.slice(0, 2) };
  try {
    const counts = countsOf(await decodeAlone(engine, first, { count: 1, mode }));
    const alone = await leastOf(rounds, async () => {
      const found: number[] = [];
      for (const count of counts) found.push(await decodeAlone(engine, speech, { count, mode }));
      return found;
    });
    return { counts, alone };
  } finally {
    engine.close();
  }
}

async function throughCounts(
  model: LoadableModel,
  speech: Speech,
  { counts, mode }: { readonly counts: readonly number[]; readonly mode: "live" | "job" },
): Promise<number[]> {
  const found: number[] = [];
  for (const count of counts) {
    const log = createLog("error");
    found.push(
      await recognizeThroughPool(model, speech, { count, mode, modelsFolder: values.models, log }),
    );
  }
  return found;
}

/**
 * Returns the minimum of each figure over several runs, because other processes can only increase
 * the figures.
 */
async function leastOf(times: number, run: () => Promise<number[]>): Promise<number[]> {
  let least: number[] = [];
  for (let time = 0; time < times; time++) {
    const found = await run();
    least = found.map((value, index) => Math.min(value, least[index] ?? Infinity));
  }
  return least;
}
