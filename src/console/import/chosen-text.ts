import { importedFormat } from "../upload/imported-format.ts";
import { subjectOfName } from "../upload/subject-of.ts";
import type { ImportProblem } from "./import-file.ts";

/** A file that was chosen, with its title and why it was not imported. */
export interface ChosenText {
  readonly id: string;
  readonly file: File;
  /** The title; empty for a transcript whose own title is kept. */
  readonly subject: string;
  readonly problem?: ImportProblem | undefined;
}

/** Returns a chosen file, with a title that is made from its name. */
export function chosenText(file: File): ChosenText {
  const subject = importedFormat(file) === "JSON" ? "" : subjectOfName(file.name);
  return { id: crypto.randomUUID(), file, subject };
}
