import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import { type Engine, engineSampleRate } from "../protocol/engine.ts";
import type { ModelCard } from "../../models/model-card.ts";
import { keepDividedLetters } from "./divided-letters.ts";
import { checkLibraryFiles } from "./library-files.ts";
import { OfflineRuns } from "./offline-runs.ts";
import { type RecognizerPlan, recognizerPlan } from "./recognizer-config.ts";
import { loadSherpaLibrary, type OnlineRecognizer, type SherpaLibrary } from "./sherpa-library.ts";
import { StreamBatch } from "./stream-batch.ts";
import { StreamingDecoder } from "./streaming-decoder.ts";
import { WholeDecoder } from "./whole-decoder.ts";

/**
 * The silence after an utterance in addition to the model's window, since transducers output the
 * last word with a small delay.
 */
const trailMs = 300;
/** The maximum window that is tried; no model has a longer one. */
const windowMsMax = 20_000;
const utteranceMsMax = 20_000;

type DecoderFactory = Pick<Engine, "createDecoder">;

/**
 * Opens any sherpa-onnx speech recognition model, from its card and the folder with its files.
 * Throws ModelCardError for a card that does not match its kind, and an Error that names the model
 * if the library cannot load it. Some corrupt files crash the process.
 */
export async function openSherpaEngine(card: ModelCard, folder: string): Promise<Engine> {
  const planned = recognizerPlan(card, folder);
  await checkLibraryFiles(card, folder);
  const library = loadSherpaLibrary();
  const { tokens } = card.files;
  const isCopied = planned.hasByteTokens && tokens !== undefined;
  // The library reads the tokens only while it loads the model.
  await using copy = isCopied ? await keepDividedLetters(folder, tokens) : undefined;
  const plan = copy ? withTokens(planned, copy.path) : planned;
  const factory = await loaded(card, () =>
    plan.isStreaming ? openStreaming(library, plan) : openOffline(library, plan),
  );
  return {
    name: "sherpa-onnx",
    languageCodes: card.languageCodes,
    utteranceMsMax,
    takesHints: false,
    // The engine may also decode in a batch, outside the slices of its sessions, so the slices do
    // not show its cost.
    usesThreads: true,
    createDecoder: factory.createDecoder,
    createVoiceActivity: () => new EnergyVoiceActivity(),
    // The garbage collector frees the library's memory.
    close() {},
  };
}

function withTokens(plan: RecognizerPlan, tokens: string): RecognizerPlan {
  const { modelConfig } = plan.config;
  const models = typeof modelConfig === "object" ? modelConfig : {};
  return { ...plan, config: { ...plan.config, modelConfig: { ...models, tokens } } };
}

async function loaded(
  card: ModelCard,
  load: () => DecoderFactory | Promise<DecoderFactory>,
): Promise<DecoderFactory> {
  try {
    return await load();
  } catch (error) {
    const paths = Object.values(card.files).map(({ path }) => path);
    throw new Error(`${card.name}: sherpa-onnx cannot load ${paths.join(", ")} as ${card.kind}`, {
      cause: error,
    });
  }
}

function openStreaming(library: SherpaLibrary, plan: RecognizerPlan): DecoderFactory {
  const recognizer = library.createOnlineRecognizer(plan.config);
  const paddingMs = windowMs(library, recognizer) + trailMs;
  const batch = new StreamBatch(library, recognizer);
  const parts = { library, recognizer, batch, paddingMs };
  return { createDecoder: ({ mode }) => new StreamingDecoder(parts, mode) };
}

/**
 * Measures the length of a model's first step by running it, so that a defective model fails when
 * it is opened.
 */
function windowMs(library: SherpaLibrary, recognizer: OnlineRecognizer): number {
  const stream = library.createOnlineStream(recognizer);
  const samples = new Float32Array(engineSampleRate / 100);
  for (let givenMs = 10; givenMs <= windowMsMax; givenMs += 10) {
    library.acceptWaveformOnline(stream, { samples, sampleRate: engineSampleRate });
    if (!library.isOnlineStreamReady(recognizer, stream)) continue;
    library.decodeMultipleOnlineStreams(recognizer, [stream]);
    return givenMs;
  }
  throw new Error(`it does nothing within ${windowMsMax} ms`);
}

async function openOffline(library: SherpaLibrary, plan: RecognizerPlan): Promise<DecoderFactory> {
  const recognizer = await library.createOfflineRecognizerAsync(plan.config);
  const runs = new OfflineRuns(library, recognizer, plan.runsMax);
  // This run makes a defective model fail when it is opened.
  await runs.add(new Int16Array(engineSampleRate), "live").result;
  const { secondsMax, configs } = plan;
  return {
    createDecoder({ mode, languageCode = "" }) {
      return new WholeDecoder(runs, { mode, secondsMax, config: configs.get(languageCode) });
    },
  };
}
