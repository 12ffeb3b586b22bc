import { JsonFields } from "./json-fields.ts";
import { readModelServer, type ModelServer } from "./model-server.ts";
import { type ModelUse, modelUses } from "./model-choice.ts";

/**
 * Layouts of model files, by the engine that loads them. ctc is our own (src/engines/ctc); those of
 * sherpa-onnx are named as in its documentation. A hosted model is at a server elsewhere, and its
 * kind is the protocol of that server (src/engines/hosted). Layouts whose names begin with
 * "streaming" recognize speech while it is spoken.
 */
export const modelKinds = {
  ctc: ["streaming-nemo-ctc", "zipformer-ctc"],
  "sherpa-onnx": [
    "streaming-transducer",
    "streaming-nemo-ctc",
    "streaming-zipformer2-ctc",
    "streaming-paraformer",
    "streaming-t-one-ctc",
    "transducer",
    "nemo-transducer",
    "whisper",
    "moonshine",
    "sense-voice",
    "paraformer",
    "omnilingual-ctc",
    "nemo-ctc",
    "zipformer-ctc",
    "wenet-ctc",
    "diarization",
  ],
  hosted: ["google-speech", "riva-speech", "openai-transcriptions", "vosk-server"],
} as const;
const modelEngines = ["ctc", "sherpa-onnx", "hosted"] as const;
export type ModelEngine = (typeof modelEngines)[number];
export type ModelKind<Engine extends ModelEngine = ModelEngine> =
  (typeof modelKinds)[Engine][number];

/** A file of a model. */
export interface ModelFile {
  /** The path below the model's folder. */
  readonly path: string;
  /** The published or measured size. If present, the size is checked. */
  readonly bytes?: number;
  /** The checksum in lower-case hexadecimal. */
  readonly sha256?: string;
}

/** A published or measured accuracy. */
export interface ModelAccuracy {
  readonly languageCode: string;
  /** The word error rate, in percent. */
  readonly wordErrorPercent: number;
  /** The test data and who measured the accuracy. */
  readonly measuredOn: string;
}

/** The content of model.json: what a model is, and how it is loaded. */
export interface ModelCard {
  /** The name of the model and of its folder. */
  readonly name: string;
  readonly version: string;
  /** The BCP 47 codes of the languages that the model recognizes; empty for diarization. */
  readonly languageCodes: readonly string[];
  readonly engine: ModelEngine;
  readonly kind: ModelKind;
  readonly uses: readonly ModelUse[];
  /**
   * For each use of a language, the available model with the highest preference serves that use. 0
   * is for a starter model, 100 for the best.
   */
  readonly preference: number;
  readonly sampleRateHertz: number;
  /** The files by role: model, encoder, decoder, joiner, tokens, lexicon... */
  readonly files: Readonly<Record<string, ModelFile>>;
  /** The server of a hosted model, which has no files. */
  readonly server?: ModelServer;
  /** The options of the engine. The engine documents them. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  /** The SPDX identifier of the license, if there is one. */
  readonly licence: string;
  /** The origin of the model: a URL or the name of its creator. */
  readonly source: string;
  readonly trainedOn: string;
  readonly accuracy: readonly ModelAccuracy[];
}

/** The error for a model.json that cannot be used. The message lists every problem. */
export class ModelCardError extends Error {
  override readonly name = "ModelCardError";
}

export const modelNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const languagePattern = /^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$/;
/**
 * A path that stays below its folder: no "..", no root, and no separators of other systems. The
 * path contains no control characters and is not the card itself.
 */
export const safePathPattern = /^(?![/]|model\.json$)(?!.*(^|\/)\.{0,2}(\/|$))[^\\\p{Cc}]+$/su;

/** Parses the text of a model.json. Throws ModelCardError, which names every unusable field. */
export function parseModelCard(text: string): ModelCard {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ModelCardError(error instanceof Error ? error.message : String(error));
  }
  const fields = new JsonFields(value);
  const card = readModelCard(fields);
  if (fields.problems.length > 0) throw new ModelCardError(fields.problems.join("; "));
  return card;
}

/**
 * Reads a card from the fields of a larger object, such as a catalogue entry. Problems are added to
 * `fields`.
 */
export function readModelCard(fields: JsonFields): ModelCard {
  const engine = fields.oneOf("engine", modelEngines) ?? "ctc";
  const kind = fields.oneOf<ModelKind>("kind", modelKinds[engine]) ?? modelKinds[engine][0];
  const isHosted = engine === "hosted";
  const forPeople = (name: string) =>
    isHosted && !fields.has(name) ? "unknown" : fields.text(name);
  return {
    name: fields.text("name", modelNamePattern),
    version: fields.text("version"),
    languageCodes: fields.texts("languageCodes", languagePattern),
    engine,
    kind,
    uses: usesOf(fields, kind),
    preference: fields.number("preference", { min: 0, max: 100, fallback: 10 }),
    sampleRateHertz: fields.number("sampleRateHertz", {
      min: 8000,
      max: 48_000,
      ...(isHosted && { fallback: 16_000 }),
    }),
    files: fields.record("files", readFile),
    ...readModelServer(fields, engine, kind),
    options: fields.scalars("options"),
    licence: forPeople("licence"),
    source: forPeople("source"),
    trainedOn: forPeople("trainedOn"),
    accuracy: fields.list("accuracy", readAccuracy),
  };
}

/**
 * Returns the uses of a model. By default, these are all uses of its kind. A model that recognizes
 * whole utterances is used for live streams only if its card says so.
 */
function usesOf(fields: JsonFields, kind: ModelKind): readonly ModelUse[] {
  if (kind === "diarization") return [];
  const uses = fields.texts("uses", /^(live|short|job)$/);
  if (uses.length > 0) return modelUses.filter((use) => uses.includes(use));
  return kind.startsWith("streaming-") || isHostedKind(kind) ? modelUses : ["short", "job"];
}

function isHostedKind(kind: ModelKind): boolean {
  return modelKinds.hosted.some((each) => each === kind);
}

function readFile(fields: JsonFields): ModelFile {
  return {
    path: fields.text("path", safePathPattern),
    ...(fields.has("bytes") && {
      bytes: fields.number("bytes", { min: 0, max: Number.MAX_SAFE_INTEGER }),
    }),
    ...(fields.has("sha256") && { sha256: fields.text("sha256", /^[0-9a-f]{64}$/) }),
  };
}

function readAccuracy(fields: JsonFields): ModelAccuracy {
  return {
    languageCode: fields.text("languageCode", languagePattern),
    wordErrorPercent: fields.number("wordErrorPercent", { min: 0, max: 1000 }),
    measuredOn: fields.text("measuredOn"),
  };
}
