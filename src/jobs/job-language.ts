/**
 * Returns the installed language for a job (docs/api.md, Speech: Languages). A job with an
 * experimental code uses the plain one if no experimental model is installed.
 */
export function installedLanguage(
  languageCode: string,
  installed: readonly string[],
): string | undefined {
  if (installed.includes(languageCode)) return languageCode;
  const plain = languageCode.replace(/-x-exp$/, "");
  return plain !== languageCode && installed.includes(plain) ? plain : undefined;
}
