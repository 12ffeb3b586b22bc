// Measures streams in real time, and the latency of their results.
import { setTimeout as delay } from "node:timers/promises";
import { Distribution, type Summary } from "../../src/cli/bench/distribution.ts";
import type { Effort } from "../../src/engines/protocol/engine.ts";
import { type EnginePool, openEnginePool } from "../../src/engines/pool/engine-pool.ts";
import type { Log } from "../../src/std/log.ts";
import { engineUse } from "../engine-use.ts";
import { sampleRate, type Talk } from "./talk.ts";

const chunkMs = 100;
const chunkSamples = (sampleRate * chunkMs) / 1000;
/** The period over which the starts of the streams are spread. */
const startMs = 4000;
/**
 * A final belongs to the last sentence that ended at most this long before the end of the
 * utterance.
 */
const endReachMs = 1500;

export interface Lags {
  /**
   * The latency of interim results, from the sending of the last chunk that each result covers.
   */
  readonly interim: Summary | undefined;
  /**
   * The latency of words, from the sending of the chunk with the end of the last word, counted once
   * for each end.
   */
  readonly word: Summary | undefined;
  /** The latency of final results, from the sending of the chunk with the end of speech. */
  readonly final: Summary | undefined;
  readonly cores: number;
  readonly bytes: number;
  /** The number of streams that the pool refused. */
  readonly refused: number;
}

interface Distributions {
  readonly interim: Distribution;
  readonly word: Distribution;
  readonly final: Distribution;
}

/**
 * Runs `count` streams on `processes` engine processes for `seconds`. At any moment, all streams
 * have different speech.
 */
export async function measurePaced(
  talks: readonly Talk[],
  options: {
    readonly count: number;
    readonly processes: number;
    readonly seconds: number;
    readonly log: Log;
    /** Default: by the load. */
    readonly effort?: Effort;
  },
): Promise<Lags> {
  const { count, processes, seconds, log, effort } = options;
  await using pool = await openEnginePool({ engine: "pocketsphinx", processes, log });
  const lags = {
    interim: new Distribution(),
    word: new Distribution(),
    final: new Distribution(),
  };
  const before = await engineUse();
  const startedAt = performance.now();
  const streams = Array.from({ length: count }, async (_, index) => {
    const talk = talks[index % talks.length];
    if (!talk) throw new Error("there is nothing to say");
    await delay((index * startMs) / count);
    await runStream(pool, talk, { seconds, ...(effort && { effort }) }, lags);
  });
  const ended = await Promise.allSettled(streams);
  const after = await engineUse();
  const refused = ended.filter(({ status }) => status === "rejected").length;
  return {
    interim: lags.interim.summary(),
    word: lags.word.summary(),
    final: lags.final.summary(),
    cores: (after.cpuMs - before.cpuMs) / (performance.now() - startedAt),
    bytes: after.bytes,
    refused,
  };
}

async function runStream(
  pool: EnginePool,
  talk: Talk,
  { seconds, effort }: { readonly seconds: number; readonly effort?: Effort },
  lags: Distributions,
): Promise<void> {
  const sentAt: number[] = [];
  const sentAtOf = (ms: number): number => {
    const chunk = Math.max(0, Math.ceil(ms / chunkMs) - 1);
    return sentAt[Math.min(chunk, sentAt.length - 1)] ?? NaN;
  };
  async function* input(): AsyncGenerator<Int16Array> {
    const startedAt = performance.now();
    const chunks = Math.min(seconds * 10, Math.floor(talk.samples.length / chunkSamples));
    for (let chunk = 0; chunk < chunks; chunk++) {
      await delay(Math.max(0, startedAt + chunk * chunkMs - performance.now()));
      sentAt.push(performance.now());
      yield talk.samples.subarray(chunk * chunkSamples, (chunk + 1) * chunkSamples);
    }
  }
  let wordEndMs = -1;
  let lastEndMs = -1;
  for await (const { isFinal, alternatives, audioEndMs } of pool.recognize(input(), {
    languageCode: "en-US",
    mode: "live",
    sampleRateHertz: sampleRate,
    interim: true,
    ...(effort && { effort }),
  })) {
    const now = performance.now();
    const endMs = alternatives[0]?.words.at(-1)?.endMs ?? -1;
    if (!isFinal) {
      lags.interim.add(now - sentAtOf(audioEndMs));
      if (endMs > wordEndMs) lags.word.add(now - sentAtOf(endMs));
      wordEndMs = Math.max(wordEndMs, endMs);
      continue;
    }
    const spokenMs = talk.endsMs.findLast((ms) => ms <= audioEndMs) ?? -Infinity;
    // If a pause within a sentence ended the utterance, the end of its speech is unknown.
    if (spokenMs > lastEndMs && audioEndMs - spokenMs <= endReachMs) {
      lags.final.add(now - sentAtOf(spokenMs));
      lastEndMs = spokenMs;
    }
  }
}
