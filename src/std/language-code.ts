/**
 * Returns the one of these BCP 47 codes that equals `code` regardless of letter case (RFC 5646,
 * section 2.1.1); `code` itself if there is none.
 */
export function knownLanguageCode(code: string, known: readonly string[]): string {
  const lower = code.toLowerCase();
  return known.find((each) => each.toLowerCase() === lower) ?? code;
}

/** The form of a language code: subtags of letters and digits. */
export const languageCodePattern = /^[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

/**
 * Returns a BCP 47 code in its canonical form, so that equal languages have equal codes; undefined
 * if the code is not well-formed. Accepts a language tag or a private-use tag (RFC 5646, section
 * 2.1), which Intl does not support.
 */
export function canonicalLanguageCode(code: string): string | undefined {
  if (!languageCodePattern.test(code)) return undefined;
  if (/^x(?:-[a-z\d]{1,8})+$/i.test(code)) return code.toLowerCase();
  try {
    return Intl.getCanonicalLocales(code)[0];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Returns whether what is of one language is of another one too: the codes, both in canonical form,
 * are equal, or one is the other with a region or more (is, is-IS and is-IS-x-exp).
 */
export function coversLanguage(code: string, other: string): boolean {
  return code === other || code.startsWith(`${other}-`) || other.startsWith(`${code}-`);
}
