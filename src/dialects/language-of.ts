import type { RecognitionMode } from "../engines/protocol/engine.ts";
import type { KnownLanguages } from "../engines/protocol/recognizer.ts";
import { knownLanguageCode } from "../std/language-code.ts";
import { shown, type Violations } from "../std/service-error.ts";

/** What clients send when the service is to find out the language itself. */
const unset: ReadonlySet<string> = new Set(["", "auto", "detect", "null", "none", "undefined"]);

/** The languages from which a dialect chooses. */
export interface LanguageChoice {
  readonly recognizer: KnownLanguages;
  readonly mode: RecognitionMode;
  /** The operator's language for calls without one (HLUST_DEFAULT_LANGUAGE). */
  readonly defaultLanguage: string | undefined;
}

/**
 * Returns the installed language that a client means with a code ("is", "is-IS", "is_is") or an
 * English name ("Icelandic"); without one, the default language, or the only installed one. Adds a
 * violation if there is none. Throws unavailable if there may be one on an engine node whose models
 * are not known.
 */
export function languageOf(
  wanted: string,
  field: string,
  { recognizer, mode, defaultLanguage }: LanguageChoice,
  violations: Violations,
): string {
  const installed = recognizer.languageCodes(mode);
  const code = wanted.trim().replaceAll("_", "-");
  if (unset.has(code.toLowerCase())) {
    const [first, ...others] = installed;
    const fallback = defaultLanguage ?? (others.length === 0 ? first : undefined);
    if (fallback !== undefined && installed.includes(fallback)) return fallback;
    if (defaultLanguage !== undefined) recognizer.checkModelsKnown();
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
  recognizer.checkModelsKnown();
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
