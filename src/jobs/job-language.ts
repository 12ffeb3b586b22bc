/**
 * docs/api.md, Speech: Languages. A job's experimental code stands for the plain one where no
 * experimental model is installed.
 */
export function installedLanguage(
  languageCode: string,
  installed: readonly string[],
): string | undefined {
  if (installed.includes(languageCode)) return languageCode;
  const plain = languageCode.replace(/-x-exp$/, "");
  return plain !== languageCode && installed.includes(plain) ? plain : undefined;
}
