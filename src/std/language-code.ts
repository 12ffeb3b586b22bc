/**
 * Returns the one of these BCP 47 codes that equals `code` regardless of letter case (RFC 5646,
 * section 2.1.1); `code` itself if there is none.
 */
export function knownLanguageCode(code: string, known: readonly string[]): string {
  const lower = code.toLowerCase();
  return known.find((each) => each.toLowerCase() === lower) ?? code;
}
