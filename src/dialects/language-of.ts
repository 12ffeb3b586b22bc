import { knownLanguageCode } from "../std/language-code.ts";
import { shown, type Violations } from "../std/service-error.ts";

/** What clients send when the service is to find out the language itself. */
const unset: ReadonlySet<string> = new Set(["", "auto", "detect", "null", "none", "undefined"]);

/** The languages from which a dialect chooses. */
export interface LanguageChoice {
  /** The languages with an installed model. */
  readonly installed: readonly string[];
  /** The operator's language for calls without one (HLUST_DEFAULT_LANGUAGE). */
  readonly defaultLanguage: string | undefined;
}

/**
 * Returns the installed language that a client means with a code ("is", "is-IS", "is_is") or an
 * English name ("Icelandic"); without one, the default language, or the only installed one. Adds a
 * violation if there is none.
 */
export function languageOf(
  wanted: string,
  field: string,
  { installed, defaultLanguage }: LanguageChoice,
  violations: Violations,
): string {
  const code = wanted.trim().replaceAll("_", "-");
  if (unset.has(code.toLowerCase())) {
    const [first, ...others] = installed;
    const fallback = defaultLanguage ?? (others.length === 0 ? first : undefined);
    if (fallback !== undefined && installed.includes(fallback)) return fallback;
    violations.add(field, `is required: ${installedText(installed)}`);
    return "";
  }
  const known = knownLanguageCode(code, installed);
  if (installed.includes(known)) return known;
  const candidates = installed.filter(
    (each) => primaryOf(each) === primaryOf(code) || nameOf(each) === code.toLowerCase(),
  );
  const found = candidates.find((each) => each === defaultLanguage) ?? candidates.toSorted().at(0);
  if (found !== undefined) return found;
  violations.add(
    field,
    `is ${shown(wanted)}, which has no installed model; ${installedText(installed)}`,
  );
  return "";
}

/** Returns the English name of a language in lower case, as Whisper names it: "icelandic". */
export function nameOf(languageCode: string): string {
  const names = new Intl.DisplayNames(["en"], { type: "language" });
  return (names.of(primaryOf(languageCode)) ?? languageCode).toLowerCase();
}

/** Returns the first part of a code: "is" of "is-IS". */
export function primaryOf(languageCode: string): string {
  return (languageCode.split("-")[0] ?? "").toLowerCase();
}

function installedText(installed: readonly string[]): string {
  return `installed: ${installed.join(", ") || "none"}`;
}
