import { knownLanguageCode } from "../std/language-code.ts";

/**
 * Returns the installed language for a job, whatever the letter case of its code (docs/api.md,
 * Speech: Languages). A job with an experimental code uses the plain one if no experimental model
 * is installed.
 */
export function installedLanguage(
  languageCode: string,
  installed: readonly string[],
): string | undefined {
  const code = knownLanguageCode(languageCode, installed);
  if (installed.includes(code)) return code;
  const plain = knownLanguageCode(languageCode.replace(/-x-exp$/i, ""), installed);
  return installed.includes(plain) ? plain : undefined;
}
