import { type ModelCard, ModelCardError, type ModelKind } from "../../models/model-card.ts";
import {
  filePaths,
  fileProblems,
  oneOf,
  optionProblems,
  type OptionRows,
  optionsIn,
  wholeNumber,
  yesOrNo,
} from "./card-fields.ts";
import type { SherpaConfig } from "./sherpa-library.ts";
import { whisperLanguages } from "./whisper-languages.ts";

/** The kinds of models that recognize words. */
type SpeechKind = Exclude<ModelKind<"sherpa-onnx">, "diarization">;

/** How a model is loaded and used. */
export interface RecognizerPlan {
  /** Whether the library's online recognizer is used, or its offline one. */
  readonly isStreaming: boolean;
  readonly config: SherpaConfig;
  /**
   * The config of a run for each language code, if the model has several languages. Without it, the
   * model detects the language itself.
   */
  readonly configs: ReadonlyMap<string, SherpaConfig>;
  /** The maximum utterance length of a run; longer utterances are cut. */
  readonly secondsMax: number;
  /** The maximum number of concurrent runs. */
  readonly runsMax: number;
  /** Whether the tokens are bytes in base64, which may divide a letter. */
  readonly hasByteTokens: boolean;
}

interface KindRow {
  /** The field of the library's modelConfig that contains the files of this kind. */
  readonly field: string;
  /** The roles of the kind's files, apart from tokens: one of these lists. */
  readonly roles: readonly (readonly string[])[];
  /** Set for a kind that shares its field with another kind. */
  readonly modelType?: string;
  readonly options?: OptionRows<Place>;
  /** Defaults for options that the card does not have. */
  readonly defaults?: (card: ModelCard) => Readonly<Record<string, string | number>>;
  readonly secondsMax?: number;
  readonly runsMax?: number;
}

/**
 * Where an option is placed: next to the files (kind), in modelConfig (models), at the top level
 * (recognizer), or in featConfig (features).
 */
type Place = "kind" | "models" | "recognizer" | "features";

/** Options of every kind. */
const sharedOptions: OptionRows<Place> = {
  threads: { place: "models", name: "numThreads", ...wholeNumber(1, 64) },
  featureDim: { place: "features", ...wholeNumber(1, 512) },
};
const searchOptions: OptionRows<Place> = {
  decodingMethod: { place: "recognizer", ...oneOf(["greedy_search", "modified_beam_search"]) },
  maxActivePaths: { place: "recognizer", ...wholeNumber(1, 64) },
};

const oneModel = [["model"]];
const transducerRoles = [["encoder", "decoder", "joiner"]];

const kindRows: Readonly<Record<SpeechKind, KindRow>> = {
  "streaming-transducer": {
    field: "transducer",
    roles: transducerRoles,
    options: searchOptions,
  },
  "streaming-nemo-ctc": { field: "nemoCtc", roles: oneModel },
  "streaming-zipformer2-ctc": { field: "zipformer2Ctc", roles: oneModel },
  "streaming-paraformer": { field: "paraformer", roles: [["encoder", "decoder"]] },
  "streaming-t-one-ctc": { field: "toneCtc", roles: oneModel },
  transducer: {
    field: "transducer",
    roles: transducerRoles,
    modelType: "transducer",
    options: searchOptions,
  },
  "nemo-transducer": {
    field: "transducer",
    roles: transducerRoles,
    modelType: "nemo_transducer",
  },
  whisper: {
    field: "whisper",
    roles: [["encoder", "decoder"]],
    options: {
      language: { place: "kind", ...oneOf(whisperLanguages) },
      task: { place: "kind", ...oneOf(["transcribe", "translate"]) },
      tailPaddings: { place: "kind", ...wholeNumber(1, 3000) },
    },
    defaults: (card) => ({
      task: "transcribe",
      // This has no effect if the decoder was exported without attention outputs.
      enableTokenTimestamps: 1,
      ...whisperLanguage(card.languageCodes),
    }),
    // A run is 30 s long, of which the last half second is padding.
    secondsMax: 28,
    // Each run sets options that all runs share.
    runsMax: 1,
  },
  moonshine: {
    field: "moonshine",
    roles: [
      ["preprocessor", "encoder", "uncachedDecoder", "cachedDecoder"],
      ["encoder", "mergedDecoder"],
    ],
  },
  "sense-voice": {
    field: "senseVoice",
    roles: oneModel,
    options: {
      language: { place: "kind", ...oneOf(["auto", "zh", "en", "ko", "ja", "yue"]) },
      useInverseTextNormalization: { place: "kind", ...yesOrNo },
    },
    defaults: () => ({ useInverseTextNormalization: 1 }),
  },
  paraformer: { field: "paraformer", roles: oneModel },
  "omnilingual-ctc": { field: "omnilingual", roles: oneModel, secondsMax: 40 },
  "nemo-ctc": { field: "nemoCtc", roles: oneModel },
  "zipformer-ctc": { field: "zipformerCtc", roles: oneModel },
  "wenet-ctc": { field: "wenetCtc", roles: oneModel },
};

/**
 * Returns the library's configuration for a model, as a pure function of its card and the folder
 * with its files. Throws a ModelCardError that names every missing, unknown or wrong field of the
 * card.
 */
export function recognizerPlan(card: ModelCard, folder: string): RecognizerPlan {
  const { kind } = card;
  if (!isSpeechKind(kind))
    throw new ModelCardError(`${card.name}: kind ${kind} recognizes no words`);
  const row = kindRows[kind];
  const roleLists = row.roles.map((roles) => [...roles, "tokens"]);
  const problems = [
    ...fileProblems(card, roleLists),
    ...optionProblems(card, { ...sharedOptions, ...row.options }),
  ];
  if (card.languageCodes.length === 0) problems.push("languageCodes is empty");
  if (problems.length > 0) throw new ModelCardError(`${card.name}: ${problems.join("; ")}`);
  const isStreaming = kind.startsWith("streaming-");
  return {
    isStreaming,
    config: config(card, row, folder),
    configs: new Map(languageConfigs(card, row, folder)),
    secondsMax: row.secondsMax ?? 60,
    runsMax: row.runsMax ?? 2,
    hasByteTokens: kind === "whisper",
  };
}

function isSpeechKind(kind: ModelKind): kind is SpeechKind {
  return kind !== "diarization";
}

/**
 * Returns the configs by language; none for a card with a single language or a language option,
 * since the config already contains the language.
 */
function languageConfigs(
  card: ModelCard,
  row: KindRow,
  folder: string,
): readonly (readonly [languageCode: string, SherpaConfig])[] {
  if (card.kind !== "whisper" || "language" in card.options) return [];
  if ("language" in whisperLanguage(card.languageCodes)) return [];
  return card.languageCodes.map((code) => {
    const options = { ...card.options, ...whisperLanguage([code]) };
    return [code, config({ ...card, options }, row, folder)];
  });
}

function config(card: ModelCard, row: KindRow, folder: string): SherpaConfig {
  const options = { ...sharedOptions, ...row.options };
  const { tokens = "", ...files } = filePaths(card, folder);
  return {
    featConfig: {
      sampleRate: card.sampleRateHertz,
      featureDim: 80,
      ...optionsIn("features", card, options),
    },
    modelConfig: {
      [row.field]: { ...files, ...row.defaults?.(card), ...optionsIn("kind", card, options) },
      tokens,
      numThreads: 1,
      provider: "cpu",
      debug: 0,
      ...(row.modelType !== undefined && { modelType: row.modelType }),
      ...optionsIn("models", card, options),
    },
    decodingMethod: "greedy_search",
    // The service itself ends utterances, in the same way for every engine.
    enableEndpoint: 0,
    ...optionsIn("recognizer", card, options),
  };
}

/** Returns the language of a card that has only one; otherwise the model detects it. */
function whisperLanguage(languageCodes: readonly string[]): { readonly language?: string } {
  const [language, ...others] = new Set(languageCodes.map((code) => code.split("-", 1)[0] ?? ""));
  if (language === undefined || others.length > 0) return {};
  return whisperLanguages.includes(language) ? { language } : {};
}
