import { folded, partsOf, type FileOptions } from "./document/paragraphs.ts";
import type { SpokenSegment, SpokenWord } from "./spoken.ts";

/**
 * Writes a transcript as plain text: a paragraph for each turn of a speaker, beginning with the
 * speaker's name, or for each segment without a known speaker. A paragraph is one line, and empty
 * lines separate paragraphs. Times are in brackets.
 */
export function writeText(
  segments: readonly SpokenSegment[],
  nameOf: (speakerId: string) => string,
  { title, options }: { readonly title: string; readonly options: FileOptions },
): string {
  const turns: { readonly speakerId: string; readonly words: SpokenWord[] }[] = [];
  for (const { speakerId, words } of segments) {
    if (words.every(({ text }) => text.trim() === "")) continue;
    const last = turns.at(-1);
    const turn =
      last && speakerId !== "" && last.speakerId === speakerId ? last : { speakerId, words: [] };
    if (turn !== last) turns.push(turn);
    for (const word of words) turn.words.push(word);
    const end = turn.words.at(-1);
    if (end) turn.words[turn.words.length - 1] = { ...end, text: `${end.text} ` };
  }
  const paragraphs = turns.map(({ speakerId, words }) => {
    const name = options.speakers ? folded(nameOf(speakerId)) : "";
    const [first, ...others] = partsOf(words, options).map(({ time, text }) => ({
      time: time === "" ? "" : `[${time}] `,
      text,
    }));
    const start = `${first?.time ?? ""}${name === "" ? "" : `${name}: `}${first?.text ?? ""}`;
    return `${[start, ...others.map(({ time, text }) => time + text)].join(" ")}\n`;
  });
  if (options.title && title !== "") paragraphs.unshift(`${title}\n`);
  return paragraphs.join("\n");
}
