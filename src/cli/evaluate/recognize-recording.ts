import { setTimeout as sleep } from "node:timers/promises";
import { type Effort, engineSampleRate, type Hint } from "../../engines/protocol/engine.ts";
import type {
  Recognition,
  RecognitionOptions,
  Recognizer,
} from "../../engines/protocol/recognizer.ts";
import type { EvaluationMode } from "../../evaluation/parse-manifest.ts";
import type { TimedWord } from "../../evaluation/scorable-text.ts";
import { sourceWords } from "../../evaluation/normalization/normalize-words.ts";
import { cutPieces } from "../../jobs/worker/cut-pieces.ts";

export interface RecognizeOptions {
  readonly languageCode: string;
  readonly mode: EvaluationMode;
  /** The length of silence that ends an utterance. Default: that of the service. */
  readonly silenceMs?: number | undefined;
  /** For live recognition. Default: full while the machine has room. */
  readonly effort?: Effort;
  /** Ignored by models that cannot use hints. */
  readonly hints?: readonly Hint[];
  /** Whether to send the audio at the speed at which it was spoken, as a live client does. */
  readonly isPaced?: boolean;
  readonly signal?: AbortSignal;
}

/** What was recognized in a recording. */
export interface RecognizedRecording {
  readonly words: readonly TimedWord[];
  /** The time of the recognition, without decoding the file. */
  readonly tookMs: number;
  /**
   * If the audio was paced: for each final result with word times, the time from the end of its
   * last word in the audio to its arrival.
   */
  readonly finalMs: readonly number[];
  /** If the audio was paced: the number of final results without word times. */
  readonly untimedFinals: number;
}

/** The length of the chunks of audio. Live clients send such chunks. */
const chunkMs = 100;
const chunkSamples = (engineSampleRate * chunkMs) / 1000;

/**
 * Recognizes samples of 16 kHz as the service does in each mode: short and live in one recognition,
 * a job in pieces cut at pauses. Throws ServiceError.
 */
export async function recognizeRecording(
  recognizer: Pick<Recognizer, "recognize">,
  samples: Int16Array,
  { mode, isPaced = false, silenceMs, ...rest }: RecognizeOptions,
): Promise<RecognizedRecording> {
  const options: RecognitionOptions = {
    ...rest,
    mode,
    sampleRateHertz: engineSampleRate,
    ...(silenceMs !== undefined && { silenceMsMin: silenceMs }),
  };
  const words: TimedWord[] = [];
  const finalMs: number[] = [];
  let untimedFinals = 0;
  const startedAt = performance.now();
  if (mode === "job") {
    for await (const { samples: piece, startMs } of cutPieces(once(samples), engineSampleRate)) {
      for await (const recognition of recognizer.recognize(chunksOf(piece), options)) {
        words.push(...wordsOf(recognition, startMs, words.at(-1)?.endMs ?? 0));
      }
    }
  } else {
    const input = isPaced ? pacedChunks(samples, startedAt) : chunksOf(samples);
    for await (const recognition of recognizer.recognize(input, options)) {
      const arrivedMs = performance.now() - startedAt;
      const found = wordsOf(recognition, 0, words.at(-1)?.endMs ?? 0);
      words.push(...found);
      const last = found.at(-1);
      if (!isPaced || !last) continue;
      if (recognition.alternatives[0]?.words.length === 0) untimedFinals += 1;
      else finalMs.push(Math.max(0, arrivedMs - last.endMs));
    }
  }
  return { words, tookMs: performance.now() - startedAt, finalMs, untimedFinals };
}

async function* once(samples: Int16Array): AsyncGenerator<Int16Array> {
  yield samples;
}

export function* chunksOf(samples: Int16Array): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += chunkSamples) {
    yield samples.subarray(at, at + chunkSamples);
  }
}

/** Yields each chunk when a live client would have it: at the time at which it ends. */
async function* pacedChunks(
  samples: Int16Array,
  startedAt: number,
): AsyncGenerator<Int16Array, void, undefined> {
  for (const [index, chunk] of [...chunksOf(samples)].entries()) {
    const endMs = index * chunkMs + (1000 * chunk.length) / engineSampleRate;
    // A timer may fire up to a millisecond early.
    for (;;) {
      const waitMs = startedAt + endMs - performance.now();
      if (waitMs <= 0) break;
      await sleep(Math.ceil(waitMs));
    }
    yield chunk;
  }
}

/**
 * Returns the words of a final result, from the start of the recording on. If the engine has no
 * time for each word, they share the time of the utterance evenly.
 */
function wordsOf(
  { isFinal, alternatives: [best], audioEndMs }: Recognition,
  offsetMs: number,
  earliestMs: number,
): TimedWord[] {
  if (!isFinal || !best) return [];
  const texts = sourceWords(best.text);
  const timed = best.words.filter(({ text }) => text.trim() !== "");
  if (timed.length === texts.length) {
    return texts.map((text, at) => ({
      text,
      startMs: offsetMs + (timed[at]?.startMs ?? 0),
      endMs: offsetMs + (timed[at]?.endMs ?? 0),
    }));
  }
  const [first, last] = [timed[0], timed.at(-1)];
  const startMs = first ? offsetMs + first.startMs : earliestMs;
  const endMs = Math.max(startMs, offsetMs + (last?.endMs ?? audioEndMs));
  const eachMs = (endMs - startMs) / texts.length;
  return texts.map((text, at) => ({
    text,
    startMs: startMs + at * eachMs,
    endMs: startMs + (at + 1) * eachMs,
  }));
}
