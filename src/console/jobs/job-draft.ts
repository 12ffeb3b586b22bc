import type { ModelJson } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import type { RecognitionChoices } from "./recognition-fields.ts";

/** The contents of the form for a new job, as typed so far. */
export interface JobDraft {
  readonly isOpen: boolean;
  readonly way: "FILES" | "URL";
  readonly files: readonly DraftFile[];
  readonly url: string;
  /** The title of the recording at the URL; each file has its own title. */
  readonly subject: string;
  /** The language of the recordings; undefined until it is chosen in this draft. */
  readonly languageCode?: string | undefined;
  /** Whether the language is that of a file, which the user has not chosen for the draft. */
  readonly hasFileLanguage?: boolean;
  readonly description: string;
  /** The keywords, separated by commas. */
  readonly keywords: string;
  readonly isDictated: boolean;
  /** Whether the text gets capitals, punctuation and digits; undefined for the last choice. */
  readonly isWritten?: boolean | undefined;
  /** The model and the speakers; undefined for those of the account's defaults. */
  readonly recognition?: RecognitionChoices | undefined;
  /** The words to expect, on lines or with commas; undefined for those of the defaults. */
  readonly words?: string | undefined;
}

/** A draft with all its options. */
export type ReadyDraft = JobDraft & {
  readonly languageCode: string;
  readonly isWritten: boolean;
  readonly recognition: RecognitionChoices;
  readonly words: string;
  /** Whether the user entered the words; otherwise they are those of the defaults. */
  readonly hasOwnWords: boolean;
  /** The installed models, which decide what applies to files in other languages. */
  readonly models: readonly ModelJson[];
};

export interface DraftFile {
  readonly id: string;
  readonly file: File;
  readonly subject: string;
  /** The language of this file; undefined for that of the draft. */
  readonly languageCode?: string | undefined;
}

/** Returns the language in which a file of a draft is transcribed. */
export function languageOfFile(
  { languageCode, files }: Pick<ReadyDraft, "languageCode" | "files">,
  file: DraftFile,
): string {
  // The form offers a language for each file if there are several.
  return files.length > 1 ? (file.languageCode ?? languageCode) : languageCode;
}

/** Returns the keywords in a comma-separated text, without duplicates. */
export function keywordsIn(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  return [...new Set(words.filter((word) => word !== ""))];
}

export const emptyDraft: JobDraft = {
  isOpen: false,
  way: "FILES",
  files: [],
  url: "",
  subject: "",
  hasFileLanguage: false,
  description: "",
  keywords: "",
  isDictated: false,
};
