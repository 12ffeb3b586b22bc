import { join } from "node:path";
import { InferenceSession } from "../../audio/onnx-runtime.ts";
import { engineSampleRate } from "../protocol/engine.ts";
import { onnxDefaults, type OnnxProvider } from "../../models/onnx-options.ts";
import {
  checkModelFiles,
  ModelFileError,
  readModelLines,
  readModelTokens,
  readOnnxMetadata,
} from "../../models/check-model-files.ts";
import type { ModelCard, ModelFile } from "../../models/model-card.ts";
import { LetterTrie } from "./letter-trie.ts";
import {
  numberOption,
  readLayout,
  type RecordingLayout,
  type StreamingLayout,
} from "./model-layout.ts";
import { modelIdentity } from "./model-identity.ts";
import { lettersOf, type TokenTable, tokenTable } from "./token-table.ts";
import type { Lexicon } from "./word-scorer.ts";

/** A loaded CTC model, with the content of its files. */
export interface CtcModel {
  readonly session: InferenceSession;
  readonly layout: StreamingLayout | RecordingLayout;
  readonly table: TokenTable;
  readonly lexicon: Lexicon | undefined;
  /** The name and version of the model, with a hash of what determines its outputs. */
  readonly identity: string;
  /** How long after the beginning of a letter the model outputs it, in milliseconds. */
  readonly tokenDelayMs: number;
}

/** The penalty for a word outside the lexicon, as a natural logarithm. */
const lexiconPenaltyDefault = 4;
/** The delay of the starter models, as measured. */
const tokenDelayMsDefault = 60;

/**
 * Loads a model for the ctc engine. Its card has the files `model` and `tokens`, and optionally
 * `lexicon` (one word per line). Options of the card override the model's metadata: windowFrames,
 * shiftFrames, frameMs, tokenDelayMs,
 * lexiconPenalty. Throws an Error that begins with the path of the faulty
 * file.
 */
export async function openCtcModel(
  card: ModelCard,
  folder: string,
  providers = onnxDefaults.providers,
): Promise<CtcModel> {
  const { model, tokens, lexicon } = card.files;
  if (!model || !tokens)
    throw new ModelFileError("model.json", "must name the files model and tokens");
  if (card.sampleRateHertz !== engineSampleRate) {
    const problem = `sampleRateHertz must be ${engineSampleRate}, not ${card.sampleRateHertz}`;
    throw new ModelFileError("model.json", problem);
  }
  await checkModelFiles(folder, card.files);
  const metadata = await readOnnxMetadata(folder, model);
  const symbols = await readModelTokens(folder, tokens);
  const table = tokenTable(tokens.path, symbols);
  const words = lexicon ? await readLexicon(folder, lexicon) : undefined;
  const session = await openSession(folder, model, providers);
  try {
    const layout = await readLayout(session, { card, path: model.path, metadata });
    if (layout.tokenCount !== symbols.length) {
      const problem = `has ${symbols.length} tokens, ${model.path} has ${layout.tokenCount}`;
      throw new ModelFileError(tokens.path, problem);
    }
    const penalty = numberOption(card, "lexiconPenalty") ?? lexiconPenaltyDefault;
    const tokenDelayMs = numberOption(card, "tokenDelayMs") ?? tokenDelayMsDefault;
    const identity = await modelIdentity(card, folder);
    return { session, layout, table, lexicon: words && { words, penalty }, identity, tokenDelayMs };
  } catch (error) {
    await session.release();
    throw error;
  }
}

async function openSession(
  folder: string,
  { path }: ModelFile,
  providers: readonly OnnxProvider[],
): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(join(folder, path), {
      executionProviders: providers,
      // The other cores are reserved for other streams.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      // Errors are thrown, so the library does not need to log them as well.
      logSeverityLevel: 4,
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    if (providers.some((provider) => provider !== "cpu") && isProviderProblem(problem)) {
      throw new Error(
        `HLUST_ONNX_PROVIDERS=${providers.join(",")} cannot be used: ${problem.trim()}. ` +
          `docs/models.md says which libraries a graphics card needs`,
        { cause: error },
      );
    }
    throw new ModelFileError(path, `cannot be loaded: ${problem}`);
  }
}

/** Whether a message of the library is about a provider, and not about the file of the model. */
function isProviderProblem(message: string): boolean {
  return /AppendExecutionProvider|CUDA|WebGPU|backend/i.test(message);
}

async function readLexicon(folder: string, { path }: ModelFile): Promise<LetterTrie> {
  const words = new LetterTrie();
  for (const [index, line] of (await readModelLines(folder, path)).entries()) {
    if (!/^[^\s\p{C}]{1,100}$/u.test(line))
      throw new ModelFileError(path, `line ${index + 1} is not a word`);
    words.add(lettersOf(line));
  }
  return words;
}
