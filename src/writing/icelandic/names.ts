import { ambiguousGivenNames, familyNames, givenNames } from "./given-names.ts";
import { places } from "./places.ts";

/** A patronymic or matronymic: the genitive of a name, and a form of "son" or "dóttir". */
const patronymic = /^(.{2,}[sarumi])(?:son|sonar|syni|sonum|dóttir|dóttur)$/;

/** Genitives of people who are not named: "systurdóttir". */
const relatives = new Set(
  "systur bróður sonar dóttur tengda fóstur stjúp uppeldis kjör ömmu afa".split(" "),
);

/** Returns a 1 for each word that is a name or part of one, and so begins with a capital. */
export function icelandicNames(words: readonly string[]): Uint8Array {
  const names = new Uint8Array(words.length);
  for (const [at, word] of words.entries()) {
    const isAfterName = at > 0 && names[at - 1] === 1 && !places.has(words[at - 1] ?? "");
    if (isAlways(word)) names[at] = 1;
    else if (ambiguousGivenNames.has(word)) {
      const isListed = words[at - 1] === "og" && givenNames.has(words[at - 2] ?? "");
      names[at] = isAfterName || isListed || isBeforeName(words, at) ? 1 : 0;
    } else if (isPatronymic(word, isAfterName)) names[at] = 1;
  }
  return names;
}

function isAlways(word: string): boolean {
  return givenNames.has(word) || familyNames.has(word) || places.has(word);
}

/** Whether the word at an index is the first of two names, or of a name and a patronymic. */
function isBeforeName(words: readonly string[], at: number): boolean {
  const next = words[at + 1] ?? "";
  if (givenNames.has(next) || familyNames.has(next) || isPatronymic(next, true)) return true;
  return ambiguousGivenNames.has(next) && isPatronymic(words[at + 2] ?? "", true);
}

function isPatronymic(word: string, isAfterName: boolean): boolean {
  const [, genitive = ""] = patronymic.exec(word) ?? [];
  if (genitive === "" || relatives.has(genitive)) return false;
  return isAfterName || givenNames.has(genitive) || ambiguousGivenNames.has(genitive);
}
