/** What is typed for a new job and not sent yet. */
export interface JobDraft {
  readonly isOpen: boolean;
  readonly way: "FILES" | "URL";
  readonly files: readonly DraftFile[];
  readonly url: string;
  /** Of what is behind the URL; files have one each. */
  readonly subject: string;
  readonly languageCode: string;
  readonly description: string;
  /** With commas between them. */
  readonly keywords: string;
  readonly isDictated: boolean;
}

export interface DraftFile {
  readonly id: string;
  readonly file: File;
  readonly subject: string;
}

export const emptyDraft: JobDraft = {
  isOpen: false,
  way: "FILES",
  files: [],
  url: "",
  subject: "",
  languageCode: "is-IS",
  description: "",
  keywords: "",
  isDictated: false,
};
