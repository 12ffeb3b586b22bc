import type { Language, Phrase } from "./language.tsx";
import { numberText } from "./numbers.ts";
import { refusedText } from "./problems.ts";

/** Patterns of messages of the service, each with what the console says for its groups. */
export type Explanations = readonly (readonly [
  pattern: RegExp,
  explain: (groups: readonly string[]) => Phrase<string>,
])[];

/** A message of the service in the console's words. */
export type Explained = Phrase<string> & {
  /** The service's own words, in English, if the console has none for them. */
  readonly detail?: string;
};

/** Returns a message in the console's words; with its own as detail if no pattern matches it. */
export function explained(message: string, explanations: Explanations): Explained {
  for (const [pattern, explain] of explanations) {
    const match = pattern.exec(message);
    if (match) return explain(match.slice(1));
  }
  return { ...refusedText, detail: message };
}

/** Returns the digits of a message as a number of the language. */
export function count(language: Language, digits: string | undefined): string {
  return numberText(language, Number(digits));
}
