import { xmlText } from "./xml-text.ts";

/** Scripts of today that are written from right to left. */
const rightToLeft = new Set("Adlm Arab Hebr Mand Nkoo Rohg Samr Syrc Thaa Yezi".split(" "));

/** The language of a document, as its formats need it; the parts are escaped for XML. */
export interface DocumentLanguage {
  /** The language tag, as is-IS. */
  readonly tag: string;
  readonly language: string;
  /** The code of the country; "" if the tag has none. */
  readonly country: string;
  readonly isRightToLeft: boolean;
}

/** Reads a language code. One without a language, such as x-private, is the undetermined und. */
export function documentLanguage(languageCode: string): DocumentLanguage {
  const locale = localeOf(languageCode);
  return {
    tag: xmlText(locale?.baseName ?? "und"),
    language: xmlText(locale?.language ?? "und"),
    country: xmlText(locale?.region ?? ""),
    isRightToLeft: rightToLeft.has(locale?.maximize().script ?? ""),
  };
}

function localeOf(languageCode: string): Intl.Locale | undefined {
  try {
    return new Intl.Locale(languageCode);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
