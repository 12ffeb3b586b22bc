// An engine that is called directly in this process, without a pipe, endpointing or turns.
import { setImmediate as turn } from "node:timers/promises";
import { type Decoder, type Engine, engineSampleRate } from "../../src/engines/protocol/engine.ts";
import { openEngine } from "../../src/engines/process/open-engine.ts";
import type { LoadableModel } from "../../src/engines/pool/loadable-models.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import type { Speech } from "./speech.ts";

const sliceSamples = engineSampleRate / 10;

export async function openAlone({ source }: LoadableModel): Promise<Engine> {
  if (source.engine === "diarizer" || source.engine === "elsewhere") {
    throw new Error("a diarizer, or a model of an engine node, does not recognize words here");
  }
  return await openEngine(source);
}

/**
 * Returns the CPU time in ms per second of audio for `count` decoders that decode the same audio
 * concurrently.
 */
export async function decodeAlone(
  engine: Engine,
  { utterances }: Speech,
  { count, mode }: { readonly count: number; readonly mode: "live" | "job" },
): Promise<number> {
  const decoders = Array.from({ length: count }, () =>
    engine.createDecoder({ mode, alternativesMax: 1 }),
  );
  const decodeAll = () => Promise.all(decoders.map((decoder) => decode(decoder, utterances)));
  // The first run compiles functions, so it is not measured.
  await decodeAll();
  const startMs = cpuMs();
  await decodeAll();
  const takenMs = cpuMs() - startMs;
  for (const decoder of decoders) decoder.close();
  const samples = utterances.reduce((sum, { length }) => sum + length, 0);
  return takenMs / ((count * samples) / engineSampleRate);
}

async function decode(decoder: Decoder, utterances: readonly Int16Array[]): Promise<void> {
  for (const utterance of utterances) {
    decoder.begin();
    for (let at = 0; at < utterance.length; at += sliceSamples) {
      decoder.accept(utterance.subarray(at, at + sliceSamples));
      for (let work = decoder.work(); work !== false; work = decoder.work()) {
        await (work === true ? turn() : work);
      }
    }
    const ending = decoder.end();
    for (let slice = ending.next(); !slice.done; slice = ending.next()) {
      await (slice.value ?? turn());
    }
  }
}
