import type { SpokenSegment } from "./spoken.ts";

/**
 * Writes a transcript as plain text: a paragraph for each turn of a speaker, beginning with the
 * speaker's name, or for each segment without a known speaker. A paragraph is one line, and empty
 * lines separate paragraphs.
 */
export function writeText(
  segments: readonly SpokenSegment[],
  nameOf: (speakerId: string) => string,
): string {
  const turns: { readonly speakerId: string; texts: string[] }[] = [];
  for (const { speakerId, words } of segments) {
    const text = folded(words.map((word) => word.text).join(""));
    if (text === "") continue;
    const last = turns.at(-1);
    if (last && speakerId !== "" && last.speakerId === speakerId) last.texts.push(text);
    else turns.push({ speakerId, texts: [text] });
  }
  const paragraphs = turns.map(({ speakerId, texts }) => {
    const name = folded(nameOf(speakerId));
    return `${name === "" ? "" : `${name}: `}${texts.join(" ")}\n`;
  });
  return paragraphs.join("\n");
}

function folded(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
