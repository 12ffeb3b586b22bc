import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { InstalledModel } from "../../models/models-folder.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { readWavHeader } from "../../std/wav.ts";
import { openEnginePool } from "./engine-pool.ts";
import { tryModel } from "./try-model.ts";

/** What a model recognized in a recording. */
export interface RecognizedSpeech {
  readonly text: string;
  readonly audioSeconds: number;
  /** The time that recognition took, without loading. */
  readonly tookMs: number;
}

const samplesFolder = resolve(import.meta.dirname, "../../../samples");
const chunkSeconds = 0.1;

/**
 * Loads a model in a process of its own and recognizes a WAV file; by default, a sample in a
 * language of the model. Throws ServiceError if the model recognizes no words, or there is no
 * sample.
 */
export async function recognizeSample(
  { card, folder }: Pick<InstalledModel, "card" | "folder">,
  options: {
    readonly modelsFolder: string;
    /** The keys for the servers of hosted models, by the names of their variables. */
    readonly modelKeys?: Readonly<Record<string, string>>;
    readonly wavFile?: string | undefined;
    readonly signal?: AbortSignal;
  },
): Promise<RecognizedSpeech> {
  const { modelsFolder, modelKeys = {}, wavFile, signal } = options;
  if (card.uses.length === 0) {
    throw new ServiceError(
      "failed_precondition",
      `${card.name} is of the kind ${card.kind}, which recognizes no words`,
    );
  }
  const languageCode = card.languageCodes[0] ?? "";
  const { samples, sampleRateHertz } = await readSample(card.languageCodes, wavFile);
  // It names what is wrong with a server, which the pool would wait for.
  if (card.server) await tryModel(folder, modelKeys);
  const mode = card.uses.includes("short") ? "short" : (card.uses[0] ?? "short");
  await using pool = await openEnginePool({
    engine: "auto",
    only: card.name,
    modelsFolder,
    modelKeys,
    processes: 1,
    log: createLog("fatal"),
    ...(signal && { signal }),
  });
  const startedAt = performance.now();
  const texts: string[] = [];
  const recognition = { languageCode, mode, sampleRateHertz, ...(signal && { signal }) } as const;
  const chunks = inChunks(samples, sampleRateHertz);
  for await (const { isFinal, alternatives } of pool.recognize(chunks, recognition)) {
    if (isFinal) texts.push(alternatives[0]?.text ?? "");
  }
  return {
    text: texts.join("\n"),
    audioSeconds: samples.length / sampleRateHertz,
    tookMs: performance.now() - startedAt,
  };
}

/** Speech of one channel. */
export interface SpeechSamples {
  readonly samples: Int16Array;
  readonly sampleRateHertz: number;
}

/**
 * Reads a WAV file; by default, the sample in the first of these languages that has one. Throws
 * ServiceError if there is none, or the file cannot be used.
 */
export async function readSample(
  languageCodes: readonly string[],
  wavFile?: string,
): Promise<SpeechSamples> {
  return await readWav(wavFile ?? sampleOf(languageCodes));
}

function sampleOf(languageCodes: readonly string[]): string {
  const files = languageCodes.map((code) => join(samplesFolder, `${basename(code)}.wav`));
  const found = files.find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw new ServiceError(
    "invalid_argument",
    `there is no sample in ${languageCodes.join(", ")}: give a WAV file`,
  );
}

async function readWav(file: string): Promise<SpeechSamples> {
  const bytes = await readFile(file);
  const header = readWavHeader(bytes);
  if (!header) throw new ServiceError("invalid_argument", `${file} is not a WAV file`);
  const { channels, dataOffset, dataBytes, sampleRateHertz } = header;
  if (channels !== 1) {
    throw new ServiceError("invalid_argument", `${file} has ${channels} channels: 1 is required`);
  }
  const end = dataOffset + dataBytes - (dataBytes % 2);
  const { buffer } = Uint8Array.from(bytes.subarray(dataOffset, end));
  return { samples: new Int16Array(buffer), sampleRateHertz };
}

/** Yields the samples in chunks of 100 ms, as live streams send them. */
export function* inChunks(
  samples: Int16Array,
  sampleRateHertz: number,
): Generator<Int16Array, void, undefined> {
  const length = Math.ceil(sampleRateHertz * chunkSeconds);
  for (let at = 0; at < samples.length; at += length) yield samples.subarray(at, at + length);
}
