import { english } from "./english/english.ts";
import { icelandic } from "./icelandic/icelandic.ts";
import type { WritingLanguage } from "./writing-language.ts";

const languages: ReadonlyMap<string, WritingLanguage> = new Map([
  ["is", icelandic],
  ["en", english],
]);

/** Returns the writing rules for a language code such as "is-IS"; undefined if there are none. */
export function languageOf(languageCode: string): WritingLanguage | undefined {
  const [language = ""] = languageCode.toLowerCase().split("-");
  return languages.get(language);
}
