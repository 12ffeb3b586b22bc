import type { Language, Phrase } from "./language.tsx";
import { numberText } from "./numbers.ts";

/** Patterns of messages of the service, each with what the console says for its groups. */
export type Explanations = readonly (readonly [
  pattern: RegExp,
  explain: (groups: readonly string[]) => Phrase<string>,
])[];

/** Returns a message in the console's words, or undefined if no pattern matches it. */
export function explained(message: string, explanations: Explanations): Phrase<string> | undefined {
  for (const [pattern, explain] of explanations) {
    const match = pattern.exec(message);
    if (match) return explain(match.slice(1));
  }
  return undefined;
}

/** Returns the digits of a message as a number of the language. */
export function count(language: Language, digits: string | undefined): string {
  return numberText(language, Number(digits));
}
