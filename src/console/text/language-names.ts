import type { Phrase } from "./language.tsx";

/**
 * The names of languages in which recordings are likely to be, by the first part of the BCP 47
 * code. Browsers lack the Icelandic names.
 */
const names: Readonly<Record<string, Phrase<string>>> = {
  ar: { is: "arabíska", en: "Arabic" },
  cs: { is: "tékkneska", en: "Czech" },
  da: { is: "danska", en: "Danish" },
  de: { is: "þýska", en: "German" },
  en: { is: "enska", en: "English" },
  es: { is: "spænska", en: "Spanish" },
  et: { is: "eistneska", en: "Estonian" },
  fi: { is: "finnska", en: "Finnish" },
  fo: { is: "færeyska", en: "Faroese" },
  fr: { is: "franska", en: "French" },
  is: { is: "íslenska", en: "Icelandic" },
  it: { is: "ítalska", en: "Italian" },
  ja: { is: "japanska", en: "Japanese" },
  kl: { is: "grænlenska", en: "Greenlandic" },
  ko: { is: "kóreska", en: "Korean" },
  lt: { is: "litháíska", en: "Lithuanian" },
  lv: { is: "lettneska", en: "Latvian" },
  nb: { is: "norska", en: "Norwegian" },
  nl: { is: "hollenska", en: "Dutch" },
  nn: { is: "nýnorska", en: "Nynorsk" },
  no: { is: "norska", en: "Norwegian" },
  pl: { is: "pólska", en: "Polish" },
  pt: { is: "portúgalska", en: "Portuguese" },
  ru: { is: "rússneska", en: "Russian" },
  sv: { is: "sænska", en: "Swedish" },
  th: { is: "taílenska", en: "Thai" },
  uk: { is: "úkraínska", en: "Ukrainian" },
  vi: { is: "víetnamska", en: "Vietnamese" },
  zh: { is: "kínverska", en: "Chinese" },
};

/** The codes of the languages that have names, without a region. */
export const namedLanguages: readonly string[] = Object.keys(names);

/**
 * Returns the name of a language, such as "íslenska" or "Icelandic"; the code itself if its name is
 * unknown.
 */
export function languageName(code: string): Phrase<string> {
  const [first = ""] = code.toLowerCase().split("-", 1);
  return names[first] ?? { is: code, en: code };
}
