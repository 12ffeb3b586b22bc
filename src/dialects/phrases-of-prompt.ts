/** The words of a phrase from a prompt; longer ones are sentences. */
const wordsMax = 4;

/**
 * Returns the phrases of a prompt that are worth a hint. Prompts of Whisper's clients are lists of
 * names and terms, or the text that came before: of a list all items of at most four words are
 * phrases, of a sentence the runs of capitalized words after its first word.
 */
export function phrasesOfPrompt(prompt: string): string[] {
  const found = new Map<string, string>();
  const add = (phrase: string): void => {
    const key = phrase.toLowerCase();
    if (phrase !== "" && !found.has(key)) found.set(key, phrase);
  };
  for (const sentence of prompt.split(/(?<=[.!?])\s+|[\n\r]+/u)) {
    const items = sentence.split(/[,;:]/u).map(plainText);
    const isList = items.length > 1 && items.every((item) => item.split(" ").length <= wordsMax);
    const isItem = items.length === 1 && (items[0] ?? "").split(" ").length <= wordsMax;
    if (isList || (isItem && !/[.!?]\s*$/u.test(sentence))) items.forEach(add);
    else items.forEach((item, at) => namesIn(item, at === 0).forEach(add));
  }
  return [...found.values()];
}

function plainText(text: string): string {
  return text
    .replaceAll(/["“”„'’()[\]<>.!?]/gu, " ")
    .trim()
    .replaceAll(/\s+/gu, " ");
}

/** Returns the runs of capitalized words; the first word of a sentence has its capital anyway. */
function namesIn(text: string, beginsSentence: boolean): string[] {
  const names: string[][] = [[]];
  for (const [at, word] of text.split(" ").entries()) {
    const isName = /^\p{Lu}/u.test(word) && !(at === 0 && beginsSentence);
    if (isName) names.at(-1)?.push(word);
    else if (names.at(-1)?.length !== 0) names.push([]);
  }
  return names.map((words) => words.slice(0, wordsMax).join(" ")).filter((name) => name !== "");
}
