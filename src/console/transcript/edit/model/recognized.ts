import { type Base, type EditedParagraph, segmentOfWord, textOfRun } from "./base.ts";

/**
 * Returns a paragraph with the text of its run, as it was in the opened version; undefined if it
 * has no run. A run over several segments has a space where one of them ends without whitespace.
 */
export function recognized(base: Base, paragraph: EditedParagraph): EditedParagraph | undefined {
  const { from, to } = paragraph;
  if (from >= to) return undefined;
  let text = "";
  for (let start = from; start < to;) {
    const end = Math.min(to, base.firsts[segmentOfWord(base, start) + 1] ?? to);
    const part = textOfRun(base, start, end);
    text += text === "" || /\s$/.test(text) || /^\s/.test(part) ? part : ` ${part}`;
    start = end;
  }
  return { ...paragraph, text };
}
