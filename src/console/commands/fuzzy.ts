/** Letters that do not divide into a letter and a mark, as people without their keys type them. */
const plain: Readonly<Record<string, string>> = {
  þ: "th",
  ð: "d",
  æ: "ae",
  ø: "o",
  œ: "oe",
  ß: "ss",
  đ: "d",
  ł: "l",
};

/** Returns a text without capitals and accents: "Þjóðskrá" and "thjodskra" become the same. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[þðæøœßđł]/g, (letter) => plain[letter] ?? letter);
}

/**
 * Returns how well a text matches what was typed; undefined if it does not. Each typed word has to
 * be found, with its letters in order: best as a word's beginning, then within a word, then
 * scattered. Accents and capitals do not matter.
 */
export function matchScore(typed: string, text: string): number | undefined {
  const inText = fold(text);
  let score = 0;
  for (const word of fold(typed).split(/\s+/)) {
    if (word === "") continue;
    const found = wordScore(word, inText);
    if (found === undefined) return undefined;
    score += found;
  }
  // Among equal matches, the shorter text is nearer to what was typed.
  return score - Math.min(text.length, 200) / 1_000;
}

function wordScore(word: string, text: string): number | undefined {
  const at = text.indexOf(word);
  if (at === 0) return 4;
  const isBeginning = text
    .split(/[^\p{L}\p{N}]+/u)
    .some((part) => part !== "" && part.startsWith(word));
  if (isBeginning) return 3;
  if (at > 0) return 2;
  return spreadScore(word, text);
}

/** The lowest score of scattered letters that match. */
const spreadMin = 0.35;

/** Returns at most 1: less the farther apart the letters are; undefined if they are too far. */
function spreadScore(word: string, text: string): number | undefined {
  let from = 0;
  let first = -1;
  for (const letter of word) {
    const at = text.indexOf(letter, from);
    if (at < 0) return undefined;
    if (first < 0) first = at;
    from = at + letter.length;
  }
  const score = word.length / (from - first);
  return score < spreadMin ? undefined : score;
}

/** Returns the items that match, the best first; if nothing is typed, all of them as they are. */
export function bestMatches<Item>(
  typed: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
): Item[] {
  if (typed.trim() === "") return [...items];
  const found = items.flatMap((item) => {
    const score = matchScore(typed, textOf(item));
    return score === undefined ? [] : [{ item, score }];
  });
  return found.toSorted((one, other) => other.score - one.score).map(({ item }) => item);
}
