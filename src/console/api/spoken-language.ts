import type { Language } from "../text/language.tsx";
import { keep, readKept } from "./kept.ts";

const storedName = "hlust.spoken-language";

/**
 * Returns the language of a new recording, as a BCP 47 code, until the user chooses another: the
 * last one used in this browser, or else that of the console, if they are among `languages`.
 */
export function spokenLanguage(languages: readonly string[], language: Language): string {
  const kept = readKept(storedName);
  if (kept !== undefined && languages.includes(kept)) return kept;
  return languages.find((code) => code.startsWith(`${language}-`)) ?? languages[0] ?? "is-IS";
}

/** Remembers the language of a recording that was sent or begun. */
export function keepSpokenLanguage(languageCode: string): void {
  keep(storedName, languageCode);
}
