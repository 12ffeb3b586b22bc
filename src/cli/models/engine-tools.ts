import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { readWavHeader } from "../../std/wav.ts";
import { openEnginePool } from "../../engines/pool/engine-pool.ts";
import { tryModel } from "../../engines/pool/try-model.ts";
import { createLog } from "../../std/log.ts";
import { ServiceError } from "../../std/service-error.ts";
import { modelSettings } from "./model-settings.ts";
import type { RecognizedSpeech, ModelTools } from "./model-tools.ts";

const samplesFolder = resolve(import.meta.dirname, "../../../samples");
const chunkSeconds = 0.1;

/** Returns tools that load models in separate processes and run them on recordings. */
export function engineTools(environment: NodeJS.ProcessEnv): ModelTools {
  return {
    verify: async (folder) => await tryModel(folder, modelSettings(environment).modelKeys),
    async recognize({ card, folder }, wavFile) {
      if (card.uses.length === 0) {
        throw new ServiceError(
          "failed_precondition",
          `${card.name} is of the kind ${card.kind}, which recognizes no words`,
        );
      }
      const languageCode = card.languageCodes[0] ?? "";
      const { samples, sampleRateHertz } = await readWav(wavFile ?? sampleOf(card.languageCodes));
      // It names what is wrong with a server, which the pool would wait for.
      if (card.server) await tryModel(folder, modelSettings(environment).modelKeys);
      const mode = card.uses.includes("short") ? "short" : (card.uses[0] ?? "short");
      await using pool = await openEnginePool({
        engine: "auto",
        only: card.name,
        modelsFolder: modelSettings(environment).folders.installed,
        processes: 1,
        modelKeys: modelSettings(environment).modelKeys,
        log: createLog("fatal"),
      });
      const startedAt = performance.now();
      const texts: string[] = [];
      const options = { languageCode, mode, sampleRateHertz } as const;
      const chunk = Math.ceil(sampleRateHertz * chunkSeconds);
      for await (const { isFinal, alternatives } of pool.recognize(
        inChunks(samples, chunk),
        options,
      )) {
        if (isFinal) texts.push(alternatives[0]?.text ?? "");
      }
      return {
        text: texts.join("\n"),
        audioSeconds: samples.length / sampleRateHertz,
        tookMs: performance.now() - startedAt,
      } satisfies RecognizedSpeech;
    },
  };
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

async function readWav(file: string): Promise<{ samples: Int16Array; sampleRateHertz: number }> {
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

function* inChunks(samples: Int16Array, length: number): Generator<Int16Array> {
  for (let at = 0; at < samples.length; at += length) yield samples.subarray(at, at + length);
}
