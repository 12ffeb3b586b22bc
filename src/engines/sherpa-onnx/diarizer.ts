import { setImmediate as turn } from "node:timers/promises";
import { engineSampleRate } from "../protocol/engine.ts";
import { type ModelCard, ModelCardError } from "../../models/model-card.ts";
import type { SpeakerTurn, SpeakerWindow, WindowSpeaker } from "../protocol/speakers.ts";
import {
  filePaths,
  fileProblems,
  optionProblems,
  type OptionRows,
  optionsIn,
  someNumber,
  wholeNumber,
} from "./card-fields.ts";
import {
  type DiarizedSegment,
  type EmbeddingExtractor,
  floatSamples,
  loadSherpaLibrary,
  type SherpaConfig,
  type SherpaLibrary,
  type SpeakerDiarization,
} from "./sherpa-library.ts";
import { voiceSamples } from "./voice-samples.ts";

/** Detects who speaks when. */
export interface Diarizer {
  /**
   * Diarizes a window of a recording at engineSampleRate. A window is only a few minutes long,
   * since all of it is in memory. Windows are diarized one at a time; joinSpeakers() matches voices
   * across windows.
   */
  diarize(samples: Int16Array): Promise<Omit<SpeakerWindow, "startMs">>;
}

const options: OptionRows<"clustering" | "turns" | "models"> = {
  /**
   * The maximum distance between the voice embeddings of segments that count as one speaker, from 0
   * to 2.
   */
  clusteringThreshold: { place: "clustering", name: "threshold", ...someNumber(0, 2) },
  /**
   * The minimum duration in seconds: shorter turns are dropped, and shorter pauses do not end a
   * turn.
   */
  minDurationOn: { place: "turns", ...someNumber(0, 10) },
  minDurationOff: { place: "turns", ...someNumber(0, 10) },
  threads: { place: "models", name: "numThreads", ...wholeNumber(1, 64) },
};

interface Parts {
  readonly library: SherpaLibrary;
  readonly diarization: SpeakerDiarization;
  readonly extractor: EmbeddingExtractor;
}

/**
 * Opens a diarization model: a network that detects turns, and one that computes embeddings of
 * voices. Throws ModelCardError for a card of another kind, and an Error if the library cannot load
 * the files. A corrupt file may crash the process.
 */
export async function openDiarizer(card: ModelCard, folder: string): Promise<Diarizer> {
  const { diarization: config, embedding } = diarizerConfig(card, folder);
  const library = loadSherpaLibrary();
  const parts = loadParts(card, library, { config, embedding });
  let before: Promise<unknown> = Promise.resolve();
  return {
    diarize(samples) {
      const found = before.then(() => diarizeWindow(parts, samples));
      before = found.catch(() => {});
      return found;
    },
  };
}

function diarizerConfig(card: ModelCard, folder: string) {
  if (card.kind !== "diarization") {
    throw new ModelCardError(`${card.name}: kind ${card.kind} is not a diarization model`);
  }
  const problems = [
    ...fileProblems(card, [["segmentation", "embedding"]]),
    ...optionProblems(card, options),
  ];
  if (card.sampleRateHertz !== engineSampleRate) {
    problems.push(`sampleRateHertz must be ${engineSampleRate}, not ${card.sampleRateHertz}`);
  }
  if (problems.length > 0) throw new ModelCardError(`${card.name}: ${problems.join("; ")}`);
  const paths = filePaths(card, folder);
  const shared = {
    numThreads: 1,
    debug: 0,
    provider: "cpu",
    ...optionsIn("models", card, options),
  };
  const embedding: SherpaConfig = { model: paths["embedding"] ?? "", ...shared };
  const diarization: SherpaConfig = {
    segmentation: { pyannote: { model: paths["segmentation"] ?? "" }, ...shared },
    embedding,
    clustering: { numClusters: -1, threshold: 0.5, ...optionsIn("clustering", card, options) },
    minDurationOn: 0.3,
    minDurationOff: 0.5,
    ...optionsIn("turns", card, options),
  };
  return { diarization, embedding };
}

function loadParts(
  card: ModelCard,
  library: SherpaLibrary,
  configs: { readonly config: SherpaConfig; readonly embedding: SherpaConfig },
): Parts {
  try {
    const diarization = library.createOfflineSpeakerDiarization(configs.config);
    const rate = library.getOfflineSpeakerDiarizationSampleRate(diarization);
    if (rate !== engineSampleRate) throw new Error(`its sample rate is ${rate}`);
    const extractor = library.createSpeakerEmbeddingExtractor(configs.embedding);
    return { library, diarization, extractor };
  } catch (error) {
    const paths = Object.values(card.files).map(({ path }) => path);
    throw new Error(`${card.name}: sherpa-onnx cannot load ${paths.join(", ")} as ${card.kind}`, {
      cause: error,
    });
  }
}

async function diarizeWindow(
  parts: Parts,
  samples: Int16Array,
): Promise<Omit<SpeakerWindow, "startMs">> {
  const { library, diarization } = parts;
  if (samples.every((sample) => sample === 0)) return { turns: [], speakers: [] };
  const floats = floatSamples(samples);
  const segments = await library.offlineSpeakerDiarizationProcessAsync(
    diarization,
    floats,
    () => {},
  );
  const turns = segments.flatMap((segment) => turnOf(segment, samples.length) ?? []);
  const speakers: WindowSpeaker[] = [];
  for (const speaker of new Set(turns.map((turn) => turn.speaker))) {
    const voice = await voiceOf(parts, floats, voiceSamples(turns, speaker));
    if (voice) speakers.push({ speaker, ...voice });
  }
  return { turns, speakers };
}

function turnOf(
  { start, end, speaker }: DiarizedSegment,
  samples: number,
): SpeakerTurn | undefined {
  const startMs = Math.max(0, Math.round(start * 1000));
  const endMs = Math.min(Math.round(end * 1000), Math.floor((samples * 1000) / engineSampleRate));
  return endMs > startMs ? { speaker, startMs, endMs } : undefined;
}

/**
 * Returns the mean embedding of a voice, weighted by length. Each part is computed separately,
 * since the computation blocks the thread for as long as the part takes.
 */
async function voiceOf(
  { library, extractor }: Parts,
  samples: Float32Array,
  spans: readonly (readonly [startMs: number, endMs: number])[],
): Promise<Omit<WindowSpeaker, "speaker"> | undefined> {
  let embedding: Float32Array | undefined;
  let seconds = 0;
  for (const [startMs, endMs] of spans) {
    const stream = library.speakerEmbeddingExtractorCreateStream(extractor);
    const part = samples.slice(
      (startMs * engineSampleRate) / 1000,
      (endMs * engineSampleRate) / 1000,
    );
    library.acceptWaveformOnline(stream, { samples: part, sampleRate: engineSampleRate });
    library.inputFinished(stream);
    if (!library.speakerEmbeddingExtractorIsReady(extractor, stream)) continue;
    const found = library.speakerEmbeddingExtractorComputeEmbedding(extractor, stream, false);
    const length = Math.hypot(...found);
    if (!(length > 0 && length < Infinity)) continue;
    const partSeconds = (endMs - startMs) / 1000;
    embedding ??= new Float32Array(found.length);
    for (const [at, value] of found.entries()) {
      embedding[at] = (embedding[at] ?? 0) + (value * partSeconds) / length;
    }
    seconds += partSeconds;
    await turn();
  }
  return embedding && { embedding, seconds };
}
