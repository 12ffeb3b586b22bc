import type { SpokenSegment } from "../spoken.ts";

/**
 * Returns segments with the name of the speaker before the first word wherever the speaker changes,
 * as "Anna: ". A no-break space keeps the name and the first word in one subtitle.
 */
export function namedTurns(
  segments: readonly SpokenSegment[],
  nameOf: (speakerId: string) => string,
): SpokenSegment[] {
  let lastSpeakerId: string | undefined;
  return segments.map((segment) => {
    const { speakerId, words } = segment;
    const first = words.findIndex(({ text }) => text.trim() !== "");
    if (first < 0 || speakerId === lastSpeakerId) return segment;
    lastSpeakerId = speakerId;
    const name = nameOf(speakerId).replaceAll(/\s+/g, " ").trim();
    if (name === "") return segment;
    const named = words.map((word, at) =>
      at === first ? { ...word, text: `${name}:\u00a0${word.text.trimStart()}` } : word,
    );
    return { ...segment, words: named };
  });
}
