import { markStreet } from "./addresses.ts";
import { englishWeekdays, isEnglishMonth } from "./calendar.ts";
import { ambiguousNames, ambiguousSurnames, givenNames, surnames } from "./given-names.ts";
import { longNames, places, smallWords } from "./places.ts";

const pronouns = new Set(["i", "i'm", "i'll", "i've", "i'd"]);
const titles = new Set("mister missus mrs miss doctor professor mr ms dr".split(" "));
const longestName = 4;
const longStarts = new Set([...longNames].map((name) => name.split(" ", 1)[0]));

/** Words that follow a title of an office: "president lincoln". */
const offices = new Set("president senator captain judge queen king saint uncle aunt".split(" "));

/** Returns a 1 for each word that is a name or part of one, and so begins with a capital. */
export function englishNames(words: readonly string[]): Uint8Array {
  const names = new Uint8Array(words.length);
  for (const [at, each] of words.entries()) {
    const word = each.replace(/'s?$/, "");
    markLongName(words, at, names);
    markStreet(words, at, names);
    if (names[at] === 1) continue;
    if (isAlways(word, each) || isEnglishMonth(words, at)) names[at] = 1;
    else if (englishWeekdays.has(each.replace(/s$/, ""))) names[at] = 1;
    else if (isNextToName(words, at, word, names)) names[at] = 1;
  }
  return names;
}

function isAlways(word: string, each: string): boolean {
  return pronouns.has(each) || givenNames.has(word) || surnames.has(word) || places.has(word);
}

function isNextToName(
  words: readonly string[],
  at: number,
  word: string,
  names: Uint8Array,
): boolean {
  const next = (words[at + 1] ?? "").replace(/'s$/, "");
  const previous = words[at - 1] ?? "";
  if (titles.has(word)) {
    return isName(next) || ambiguousNames.has(next) || ambiguousSurnames.has(next);
  }
  const isTitled = titles.has(previous);
  if (ambiguousNames.has(word) && (isTitled || surnames.has(next))) return true;
  if (ambiguousSurnames.has(word)) {
    const isAfterName = givenNames.has(previous) || ambiguousNames.has(previous);
    return isTitled || (isAfterName && names[at - 1] === 1);
  }
  return offices.has(word) && surnames.has(next);
}

function isName(word: string): boolean {
  return givenNames.has(word) || surnames.has(word);
}

/** Marks the words of the longest name of several words that begins at an index. */
function markLongName(words: readonly string[], at: number, names: Uint8Array): void {
  if (!longStarts.has(words[at])) return;
  for (let count = longestName; count > 1; count -= 1) {
    const name = words.slice(at, at + count);
    if (!longNames.has(name.join(" "))) continue;
    for (const [index, word] of name.entries()) {
      if (!smallWords.has(word)) names[at + index] = 1;
    }
    return;
  }
}
