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
  readonly description: string;
  /** The keywords, separated by commas. */
  readonly keywords: string;
  readonly isDictated: boolean;
  /** Whether the text gets capitals, punctuation and digits; undefined for the last choice. */
  readonly isWritten?: boolean;
}

/** A draft with the language of its recordings. */
export type ReadyDraft = JobDraft & { readonly languageCode: string };

export interface DraftFile {
  readonly id: string;
  readonly file: File;
  readonly subject: string;
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
  description: "",
  keywords: "",
  isDictated: false,
};
