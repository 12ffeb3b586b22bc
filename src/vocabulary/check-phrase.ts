import {
  hintBoostDefault,
  hintBoostMax,
  hintCharsMax,
  hintSoundsLikeMax,
} from "../engines/protocol/check-hints.ts";
import { canonicalLanguageCode } from "../std/language-code.ts";
import { shown, type Violations } from "../std/service-error.ts";
import { foldPhrase } from "./fold-phrase.ts";

/** The limits of vocabularies (docs/api.md, Vocabulary). */
export const vocabularyLimits = {
  /** Ten times what one recognition can use; a console page and an import read it at once. */
  phrases: 5000,
  candidates: 1000,
  rejected: 5000,
  phraseChars: hintCharsMax,
  soundsLike: hintSoundsLikeMax,
  weight: hintBoostMax,
  languageCodeChars: 100,
} as const;

/** The fields of a phrase that callers can set. */
export interface PhraseFields {
  readonly phrase: string;
  readonly languageCode: string;
  readonly weight: number;
  readonly soundsLike: readonly string[];
}

/** A checked phrase, in the form in which it is stored. */
export interface CheckedPhrase extends PhraseFields {
  readonly folded: string;
}

/**
 * Checks the phrase at `path`, which is "" or ends with a period, and adds every violation. The
 * result is valid only if there are none.
 */
export function checkPhrase(
  { phrase, languageCode, weight, soundsLike }: PhraseFields,
  path: string,
  violations: Violations,
): CheckedPhrase {
  checkSpoken(phrase, `${path}phrase`, violations);
  const { weight: weightMax, soundsLike: soundsLikeMax } = vocabularyLimits;
  if (!(weight >= 0 && weight <= weightMax)) {
    violations.add(`${path}weight`, `must be 0 to ${weightMax}, not ${weight}`);
  }
  if (soundsLike.length > soundsLikeMax) {
    const problem = `has ${soundsLike.length} texts; at most ${soundsLikeMax} are allowed`;
    violations.add(`${path}soundsLike`, problem);
  }
  const indexes = new Map<string, number>();
  for (const [index, text] of soundsLike.entries()) {
    const place = `${path}soundsLike[${index}]`;
    checkSpoken(text, place, violations);
    const folded = foldPhrase(text);
    const first = indexes.get(folded);
    if (folded !== "" && first !== undefined) {
      violations.add(place, `is the same as soundsLike[${first}]`);
    } else indexes.set(folded, index);
  }
  return {
    phrase: spaced(phrase),
    folded: foldPhrase(phrase),
    languageCode: checkLanguageCode(languageCode, `${path}languageCode`, violations),
    weight: weight === 0 ? hintBoostDefault : weight,
    soundsLike: soundsLike.map(spaced),
  };
}

/**
 * Checks a language and returns its canonical code; "" if it is invalid, since what it is compared
 * with in the database must have no NUL character.
 */
export function checkLanguageCode(code: string, field: string, violations: Violations): string {
  const canonical =
    code.length > vocabularyLimits.languageCodeChars ? undefined : canonicalLanguageCode(code);
  if (canonical !== undefined) return canonical;
  const problem =
    code === ""
      ? "is required, for example is-IS"
      : `${shown(code)} is not a BCP 47 language code such as is-IS`;
  violations.add(field, problem);
  return "";
}

/** Checks a text that is said: what it consists of, and its length. */
function checkSpoken(text: string, field: string, violations: Violations): void {
  if (text === "") {
    violations.add(field, "is required");
    return;
  }
  const { phraseChars } = vocabularyLimits;
  const chars = Array.from(text).length;
  if (chars > phraseChars) {
    violations.add(field, `has ${chars} characters; at most ${phraseChars} are allowed`);
  }
  for (const [what, pattern] of unspoken) {
    const [found] = pattern.exec(text) ?? [];
    if (found !== undefined) violations.add(field, `has ${what}, ${codePointOf(found)}`);
  }
  if (foldPhrase(text) === "") violations.add(field, "has no letter or digit");
}

/** Characters that a phrase must not have. Some scripts need U+200C and U+200D within words. */
const unspoken: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a control character", /\p{Cc}/u],
  ["an invisible character", /(?![\u200C\u200D])[\p{Cf}\p{Zl}\p{Zp}]/u],
  ["invalid Unicode", /[\p{Cs}\p{Cn}\p{Co}]/u],
  ["an emoji", /(?![©®™])[\p{Emoji_Presentation}\p{Extended_Pictographic}\u20E3]/u],
];

function codePointOf(char: string): string {
  const digits = (char.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${digits.padStart(4, "0")}`;
}

function spaced(text: string): string {
  return text.normalize("NFC").trim().replaceAll(/\s+/g, " ");
}
