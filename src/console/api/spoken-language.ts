import type { Language } from "../text/language.tsx";
import { keep, readKept } from "./kept.ts";

const storedName = "hlust.spoken-language";

/**
 * Returns the language of a new recording, as a BCP 47 code, until the user chooses another: the
 * last one chosen in this browser, or else that of the account's defaults, or else that of the
 * console, if they are among `languages`.
 */
export function spokenLanguage(
  languages: readonly string[],
  language: Language,
  ofAccount?: string,
): string {
  const kept = readKept(storedName);
  if (kept !== undefined && languages.includes(kept)) return kept;
  if (ofAccount !== undefined && languages.includes(ofAccount)) return ofAccount;
  return languages.find((code) => code.startsWith(`${language}-`)) ?? languages[0] ?? "is-IS";
}

/**
 * Remembers the chosen language of a recording that was sent or begun. Users who choose that of the
 * account's defaults have the defaults again, also when they change.
 */
export function keepSpokenLanguage(languageCode: string, ofAccount?: string): void {
  keep(storedName, languageCode === ofAccount ? undefined : languageCode);
}
