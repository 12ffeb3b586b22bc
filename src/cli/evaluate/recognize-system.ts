import { createLog } from "../../std/log.ts";
import { decodeAudio } from "../../audio/decode.ts";
import { joinSamples } from "../../audio/join-samples.ts";
import type { Sandbox } from "../../audio/sandbox.ts";
import { type EnginePool, openEnginePool } from "../../engines/pool/engine-pool.ts";
import { engineSampleRate } from "../../engines/protocol/engine.ts";
import type { OnnxOptions } from "../../models/onnx-options.ts";
import type { RecordingResult } from "../../evaluation/summarize-results.ts";
import type { CheckedRecording } from "./check-recordings.ts";
import { recognizeRecording } from "./recognize-recording.ts";
import { whenAdmitted } from "./when-admitted.ts";

export interface RecognizeSystemParts {
  readonly engine: "auto" | "pocketsphinx" | "scripted";
  readonly modelsFolder: string;
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys?: Readonly<Record<string, string>>;
  /** How speech is found, as the service finds it. */
  readonly voiceActivity: "network" | "energy";
  /** How the networks of the ctc engine run. Default: on the processor. */
  readonly onnx?: OnnxOptions;
  readonly sandbox: Sandbox;
  readonly recordingMsMax: number;
  /** The number of recordings that are recognized at the same time, each by a process. */
  readonly processes: number;
  /** Whether live audio is sent in real time. */
  readonly isPaced: boolean;
  /** Called after each recording. */
  readonly onDone: () => void;
}

/**
 * Recognizes the recordings of a system, one model after the other, and returns the results in the
 * order of the recordings. A recording or model that fails is a result with the reason.
 */
export async function recognizeSystem(
  recordings: readonly CheckedRecording[],
  parts: RecognizeSystemParts,
): Promise<RecordingResult[]> {
  const results: RecordingResult[] = [];
  const byModel = Map.groupBy(recordings.entries(), ([, { model }]) => model);
  for (const [model, entries] of byModel) {
    const waiting = entries.values();
    try {
      await using pool = await openModel(model, entries, parts);
      const work = async (): Promise<void> => {
        for (const [at, recording] of waiting) {
          results[at] = await resultOf(pool, recording, parts);
          parts.onDone();
        }
      };
      await Promise.all(Array.from({ length: parts.processes }, work));
    } catch (error) {
      // resultOf() does not throw, so this is the model.
      const reason = error instanceof Error ? error.message : String(error);
      const failure = new Error(`the model ${model} cannot be used: ${reason}`, { cause: error });
      for (const [at, recording] of entries) results[at] ??= failed(recording, failure);
    }
  }
  return results;
}

async function openModel(
  model: string,
  entries: readonly (readonly [at: number, recording: CheckedRecording])[],
  { engine, modelsFolder, modelKeys = {}, voiceActivity, onnx, processes }: RecognizeSystemParts,
): Promise<EnginePool> {
  const languageCodes = new Set(entries.map(([, { languageCode }]) => languageCode));
  return await openEnginePool({
    engine,
    only: model,
    // A chosen model serves every mode, even one that its card does not name.
    choice: Array.from(languageCodes, (languageCode) => ({ languageCode, use: undefined, model })),
    processes,
    modelsFolder,
    modelKeys,
    voiceActivity,
    ...(onnx && { onnx }),
    log: createLog("fatal"),
  });
}

async function resultOf(
  pool: EnginePool,
  recording: CheckedRecording,
  { sandbox, recordingMsMax, isPaced }: RecognizeSystemParts,
): Promise<RecordingResult> {
  const { name, file, text, probe, languageCode, mode, model, silenceMs, hints } = recording;
  try {
    const chunks: Int16Array[] = [];
    const decoded = decodeAudio({ file, sandbox, facts: probe, durationMsMax: recordingMsMax });
    for await (const chunk of decoded) chunks.push(chunk);
    const samples = joinSamples(chunks);
    const isLivePaced = mode === "live" && isPaced;
    const used = pool.takesHints(languageCode, mode) ? hints : [];
    const options = { languageCode, mode, silenceMs, hints: used, isPaced: isLivePaced };
    const { words, tookMs, finalMs, untimedFinals } = await whenAdmitted(() =>
      recognizeRecording(pool, samples, options),
    );
    return {
      name,
      languageCode,
      mode,
      model,
      text,
      recognized: words,
      durationMs: (samples.length * 1000) / engineSampleRate,
      ...(isLivePaced ? { finalMs, untimedFinals } : { tookMs }),
    };
  } catch (error) {
    return failed(recording, error);
  }
}

function failed(recording: CheckedRecording, error: unknown): RecordingResult {
  const { name, text, languageCode, mode, model, probe } = recording;
  const failure = error instanceof Error ? error.message : String(error);
  const durationMs = probe.durationMs ?? 0;
  return { name, languageCode, mode, model, text, recognized: [], durationMs, failure };
}
