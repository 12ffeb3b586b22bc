const scripts =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const anywhere = new RegExp(`[${scripts}]`, "u");
/** The letters of these scripts and their punctuation: 、。「」！？ */
const lettersAndMarks = `${scripts}\\u3000-\\u303f\\uff00-\\uff60`;
const atStart = new RegExp(`^[${lettersAndMarks}]`, "u");
const atEnd = new RegExp(`[${lettersAndMarks}]$`, "u");
const words = new Intl.Segmenter("und", { granularity: "word" });

/** Whether a text contains letters of a script without spaces. */
export function isUnspaced(text: string): boolean {
  return anywhere.test(text);
}

/** Whether two texts are joined without a space. */
export function joinsUnspaced(before: string, after: string): boolean {
  return atEnd.test(before) && atStart.test(after);
}

/** Splits a text without spaces into words; punctuation belongs to the previous word. */
export function unspacedWords(text: string): string[] {
  const found: string[] = [];
  for (const { segment, isWordLike } of words.segment(text)) {
    if (isWordLike === true || found.length === 0) found.push(segment);
    else found.push(`${found.pop() ?? ""}${segment}`);
  }
  return found;
}
