import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { onnxDefaults, type OnnxOptions, onnxProviders } from "../models/onnx-options.ts";
import { modelKeyName } from "../models/model-server.ts";
import { modelUses, type ModelChoice } from "../models/model-choice.ts";
import {
  ConfigError,
  ifSet,
  list,
  oneOf,
  whole,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** The models that recognize speech, and how they do it. */
export interface ModelConfig {
  readonly engineProcesses: number;
  readonly engine: EngineChoice;
  /** How speech is distinguished from other sound, for all models. */
  readonly voiceActivity: VoiceActivityChoice;
  /** The effort of live streams; auto: by the load. */
  readonly liveEffort: LiveEffortChoice;
  /** How the networks of the ctc engine run. */
  readonly onnx: OnnxOptions;
  readonly modelsFolder: string;
  /** The models that serve a language instead of the best installed one. */
  readonly modelChoice: ModelChoice;
  /**
   * The catalogue of models that can be installed. If undefined, the catalogue that comes with
   * Hlust is used.
   */
  readonly catalogueFile: string | undefined;
  /** The keys for the servers of hosted models, by the names of their variables. */
  readonly modelKeys: Readonly<Record<string, string>>;
}

/** Returns the variables of the environment that have keys for the servers of hosted models. */
export function modelKeysOf(environment: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).flatMap(([name, value]) =>
    modelKeyName.test(name) && value !== undefined ? [[name, value] as const] : [],
  );
  return Object.fromEntries(entries);
}

export const engineChoices = ["auto", "pocketsphinx", "scripted"] as const;
export type EngineChoice = (typeof engineChoices)[number];

const voiceActivityChoices = ["energy", "network"] as const;
export type VoiceActivityChoice = (typeof voiceActivityChoices)[number];
const liveEffortChoices = ["auto", "quick", "full"] as const;
export type LiveEffortChoice = (typeof liveEffortChoices)[number];

export const modelSettings = {
  engineProcesses: {
    name: "HLUST_ENGINE_PROCESSES",
    meaning: "Engine processes for each model, 1 to 256; large models get fewer",
    fallback: "one per core",
    parse: (text, name) =>
      text === undefined ? availableParallelism() : whole(text, name, 1, 256),
  },
  engine: {
    name: "HLUST_ENGINE",
    meaning:
      "auto (all installed models), pocketsphinx, or scripted (for load tests: invents its words)",
    fallback: "auto",
    parse: (text, name) => oneOf(text ?? "auto", name, engineChoices),
  },
  voiceActivity: {
    name: "HLUST_VOICE_ACTIVITY",
    meaning:
      "How speech is found: network (also in noise, music and next to typing), or energy (for 3 ms less CPU for a second of speech)",
    fallback: "network",
    parse: (text, name) => oneOf(text ?? "network", name, voiceActivityChoices),
  },
  liveEffort: {
    name: "HLUST_LIVE_EFFORT",
    meaning:
      "Effort of live streams with PocketSphinx: auto (full while the machine has room for it), quick, or full; with quick or full the same audio always gives the same text",
    fallback: "auto",
    parse: (text, name) => oneOf(text ?? "auto", name, liveEffortChoices),
  },
  modelsFolder: {
    name: "HLUST_MODELS",
    meaning: "Folder of installed models",
    fallback: "models in HLUST_DATA",
    parse: ifSet((text) => resolve(text)),
  },
  modelChoice: {
    name: "HLUST_MODEL_CHOICE",
    meaning:
      "Models for a language, or for one recognition mode of it (live, short, job), in place of the best: en-US=NAME,is-IS:live=NAME",
    fallback: "the best installed model",
    isList: true,
    isLive: true,
    parse: (text, name) => list(text).map((entry) => modelChoice(entry, name)),
  },
  catalogueFile: {
    name: "HLUST_CATALOGUE",
    meaning:
      "Catalogue (JSON) of the models that `hlust models` can install, for example of your own mirror",
    fallback: "the one that comes with Hlust",
    parse: ifSet((text) => resolve(text)),
  },
} satisfies {
  [Key in keyof Omit<ModelConfig, "modelKeys" | "onnx">]: Setting<ModelConfig[Key] | undefined>;
};

const batchStreamsMax = 256;
/** A longer wait would be felt: interim results come every few hundred milliseconds. */
const batchWaitMsMax = 100;

export const onnxSettings = {
  providers: {
    name: "HLUST_ONNX_PROVIDERS",
    meaning:
      "Where the networks of the ctc engine run, by preference: cpu, or a graphics card by cuda (its libraries are yours to install) or webgpu",
    fallback: "cpu",
    isList: true,
    parse: (text, name) =>
      text === undefined
        ? onnxDefaults.providers
        : list(text).map((entry) => oneOf(entry, name, onnxProviders)),
  },
  batchStreams: {
    name: "HLUST_BATCH_STREAMS",
    meaning: `Streams of an engine process whose windows the ctc engine runs together at most, 1 to ${batchStreamsMax}`,
    fallback: `${onnxDefaults.batchStreams}`,
    parse: (text, name) =>
      text === undefined ? onnxDefaults.batchStreams : whole(text, name, 1, batchStreamsMax),
  },
  batchWaitMs: {
    name: "HLUST_BATCH_WAIT",
    meaning: `How long a window waits for windows of other streams, in milliseconds, 0 to ${batchWaitMsMax}`,
    fallback: `${onnxDefaults.batchWaitMs}`,
    parse: (text, name) =>
      text === undefined ? onnxDefaults.batchWaitMs : whole(text, name, 0, batchWaitMsMax),
  },
} satisfies { [Key in keyof OnnxOptions]: Setting<OnnxOptions[Key]> };

/** Reads how the networks of the ctc engine run. */
export function readOnnx(read: ReadSetting): OnnxOptions {
  return {
    providers: read(onnxSettings.providers),
    batchStreams: read(onnxSettings.batchStreams),
    batchWaitMs: read(onnxSettings.batchWaitMs),
  };
}

function modelChoice(entry: string, name: string): ModelChoice[number] {
  const [, languageCode, use, model] = /^([A-Za-z0-9-]+)(?::([a-z]+))?=(\S+)$/.exec(entry) ?? [];
  if (languageCode === undefined || model === undefined) {
    throw new ConfigError(
      `${name} must have entries such as is-IS=NAME or is-IS:live=NAME, not ${JSON.stringify(entry)}`,
    );
  }
  return { languageCode, use: use === undefined ? undefined : oneOf(use, name, modelUses), model };
}
