import type { ModelJson } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import { type DraftFile, type JobDraft, languageOfFile, type ReadyDraft } from "./job-draft.ts";

/** How a file of a draft is recognized. */
export interface FileRecognition {
  readonly languageCode: string;
  /** The name of the model; "" for the one that serves the language. */
  readonly model: string;
  /** The words to expect, on lines or with commas. */
  readonly words: string;
  /** What of the draft's choices cannot be used for the language of the file. */
  readonly unused: readonly ("MODEL" | "WORDS" | "WORDS_NOT_TAKEN")[];
}

/**
 * Returns how a file is recognized. A file in another language than the draft keeps the model if it
 * serves that language too, and the words that the user entered if the model takes words; those of
 * the account's defaults are for the language of the draft.
 */
export function recognitionOfFile(draft: ReadyDraft, file: DraftFile): FileRecognition {
  const languageCode = languageOfFile(draft, file);
  const { recognition, words, models } = draft;
  if (languageCode === draft.languageCode) {
    return { languageCode, model: recognition.model, words, unused: [] };
  }
  const serving = models.filter((each) => isServing(each, languageCode));
  const same = serving.filter(({ name }) => name === recognition.model);
  const used = same.length > 0 ? same : serving;
  const takesWords = used.every(({ takesHints }) => takesHints);
  const model = same.length > 0 ? recognition.model : "";
  const kept = draft.hasOwnWords && takesWords && used.length > 0 ? words : "";
  return {
    languageCode,
    model,
    words: kept,
    unused: [
      ...(model === recognition.model ? [] : (["MODEL"] as const)),
      ...(kept === words ? [] : [takesWords ? ("WORDS" as const) : ("WORDS_NOT_TAKEN" as const)]),
    ],
  };
}

/** Returns the changes that give a draft another language. A model that serves it stays. */
export function toLanguage(
  { recognition }: JobDraft,
  models: readonly ModelJson[],
  languageCode: string,
): Pick<JobDraft, "languageCode" | "hasFileLanguage" | "recognition"> {
  const isKept = models.some(
    (each) => each.name === recognition?.model && isServing(each, languageCode),
  );
  return {
    languageCode,
    hasFileLanguage: false,
    recognition: recognition && { ...recognition, ...(!isKept && { model: "" }) },
  };
}

/**
 * Returns the changes that take a file out of a draft. If one is left, its own language becomes
 * that of the draft, because the form has no other place for it.
 */
export function withoutFile(
  draft: JobDraft,
  models: readonly ModelJson[],
  id: string,
): Partial<JobDraft> {
  const files = draft.files.filter((file) => file.id !== id);
  const [last] = files;
  if (!last || files.length > 1) return { files };
  const { languageCode, ...rest } = last;
  if (languageCode === undefined) return { files };
  return { files: [rest], ...toLanguage(draft, models, languageCode), hasFileLanguage: true };
}

/** Whether a model recognizes recordings in a language. */
export function isServing(
  { uses = [], languageCodes = [] }: ModelJson,
  languageCode: string,
): boolean {
  return uses.includes("JOB") && languageCodes.includes(languageCode);
}
