// The same speech, recognized by an engine process as in a stream of the service.
import { engineSampleRate, type RecognitionMode } from "../../src/engines/protocol/engine.ts";
import { openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import type { LoadableModel } from "../../src/engines/pool/loadable-models.ts";
import type { Log } from "../../src/std/log.ts";
import { engineUse } from "../engine-use.ts";
import type { Speech } from "./speech.ts";

const chunkSamples = engineSampleRate / 10;

/**
 * Returns the CPU time in ms of the engine processes per second of speech, with `count` concurrent
 * streams.
 */
export async function recognizeThroughPool(
  model: LoadableModel,
  { languageCode, utterances, talk }: Speech,
  options: {
    readonly count: number;
    readonly mode: RecognitionMode;
    readonly modelsFolder: string;
    readonly log: Log;
  },
): Promise<number> {
  const { count, mode, modelsFolder, log } = options;
  await using pool = await openEnginePool({
    engine: "auto",
    processes: 1,
    modelsFolder,
    only: model.name,
    log,
  });
  const recognizeAll = () =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const recognition = pool.recognize(chunksOf(talk), {
          languageCode,
          mode,
          sampleRateHertz: engineSampleRate,
        });
        let finals = 0;
        for await (const { isFinal } of recognition) if (isFinal) finals += 1;
        if (finals === 0) throw new Error("nothing was recognized");
      }),
    );
  await recognizeAll();
  const before = await engineUse();
  await recognizeAll();
  const after = await engineUse();
  const samples = utterances.reduce((sum, { length }) => sum + length, 0);
  return (after.cpuMs - before.cpuMs) / ((count * samples) / engineSampleRate);
}

function* chunksOf(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += chunkSamples) {
    yield samples.subarray(at, at + chunkSamples);
  }
}
