import { decodedSampleRate } from "../../src/audio/decode.ts";
import { openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import { cutPieces } from "../../src/jobs/worker/cut-pieces.ts";
import type { Log } from "../../src/std/log.ts";
import { type Spent, spentBetween, TreeWatch } from "./service-tree.ts";

/** Recognizes the pieces of a recording in one engine process that does nothing else. */
export async function recognizeAlone(talk: Int16Array, log: Log): Promise<Spent> {
  const pieces = await Array.fromAsync(cutPieces(chunksOf(talk), decodedSampleRate));
  await using pool = await openEnginePool({ engine: "pocketsphinx", processes: 1, log });
  const options = { languageCode: "en-US", mode: "job", sampleRateHertz: 16_000 } as const;
  using watch = new TreeWatch([process.pid]);
  const before = await watch.look();
  // Pieces are recognized one after another, because two concurrent pieces would evict each other
  // from the caches of a core.
  for (const { samples } of pieces) {
    for await (const _ of pool.recognize([samples], options)) continue;
  }
  return spentBetween(before, await watch.look());
}

async function* chunksOf(talk: Int16Array): AsyncGenerator<Int16Array, void, undefined> {
  for (let at = 0; at < talk.length; at += decodedSampleRate) {
    yield talk.subarray(at, at + decodedSampleRate);
  }
}
