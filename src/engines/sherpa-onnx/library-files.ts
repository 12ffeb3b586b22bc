import {
  checkModelFiles,
  ModelFileError,
  readModelLines,
  readOnnxMetadata,
} from "../../models/check-model-files.ts";
import type { ModelCard, ModelFile, ModelKind } from "../../models/model-card.ts";
import { metadataRules, type MetadataRules } from "./metadata-rules.ts";

/** The symbols of which the library looks for one as the blank of a model with CTC. */
const blankSymbols = ["<blk>", "<eps>", "<blank>"];

/** Kinds whose tokens file must have one of these symbols; the library would end the process. */
const blanksOfKind: Partial<Record<ModelKind, readonly string[]>> = {
  "streaming-nemo-ctc": blankSymbols,
  "streaming-zipformer2-ctc": blankSymbols,
  "streaming-t-one-ctc": blankSymbols,
  "nemo-ctc": blankSymbols,
  "zipformer-ctc": blankSymbols,
  "wenet-ctc": blankSymbols,
  "nemo-transducer": ["<blk>"],
};

/**
 * Checks that the files of a card are complete, and that each has what the library reads in it:
 * without it, the library ends the process, and only its log names the missing part. Throws
 * ModelFileError, which names the file and the metadata key, or the line of the tokens file.
 */
export async function checkLibraryFiles(card: ModelCard, folder: string): Promise<void> {
  await checkModelFiles(folder, card.files);
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const [role, file] of Object.entries(card.files)) {
    if (file.path.endsWith(".onnx")) found.set(role, await readOnnxMetadata(folder, file));
  }
  for (const [role, rules] of Object.entries(metadataRules(card, found))) {
    const [file, metadata] = [card.files[role], found.get(role)];
    if (file && metadata) checkMetadata(file, metadata, rules);
  }
  const { tokens } = card.files;
  if (tokens) await checkTokens(card, folder, tokens);
}

function checkMetadata(
  { path }: ModelFile,
  metadata: ReadonlyMap<string, string>,
  { counts = [], lists = [], numbers = [], texts = {} }: MetadataRules,
): void {
  const check = (key: string, pattern: RegExp, need: string): void => {
    const value = metadata.get(key) ?? "";
    if (value === "") throw new ModelFileError(path, `its metadata ${key} is required`);
    if (pattern.test(value)) return;
    const shown = JSON.stringify(value.slice(0, 40));
    throw new ModelFileError(path, `its metadata ${key} must be ${need}, not ${shown}`);
  };
  for (const [key, known] of Object.entries(texts)) {
    check(key, new RegExp(`^(${known.join("|")})$`), known.join(" or "));
  }
  for (const key of counts) check(key, /^\s*\d{1,9}\s*$/, "a whole number");
  for (const key of lists) {
    check(key, /^\s*\d{1,9}\s*(,\s*\d{1,9}\s*)*,?$/, "whole numbers with commas");
  }
  for (const key of numbers) {
    check(key, /^[-+.\deE\s]+(,[-+.\deE\s]+)*,?$/, "numbers with commas");
  }
}

/** A line has a symbol and a number, or a number alone, which stands for the space. */
async function checkTokens(card: ModelCard, folder: string, { path }: ModelFile): Promise<void> {
  const symbols = new Set<string>();
  for (const [at, line] of (await readModelLines(folder, path)).entries()) {
    const [first = "", second, ...more] = line.split(/[ \t\v\f\r]+/).filter((each) => each !== "");
    const number = second ?? first;
    if (more.length > 0 || !/^\d{1,9}$/.test(number)) {
      throw new ModelFileError(path, `line ${at + 1} is not a symbol and a number`);
    }
    if (second !== undefined) symbols.add(first);
  }
  const blanks = blanksOfKind[card.kind];
  if (!blanks || blanks.some((blank) => symbols.has(blank))) return;
  throw new ModelFileError(path, `has no blank: ${blanks.join(" or ")} is required`);
}
