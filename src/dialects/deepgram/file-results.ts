import { newId } from "../../std/ids.ts";
import type { SpokenSegment } from "../../transcripts/spoken.ts";
import type { FileOptions } from "./read-options.ts";
import { seconds, wordOf } from "./write-results.ts";

type Word = SpokenSegment["words"][number] & {
  /** The number of the speaker in the order of speech, if speakers are detected. */
  readonly speaker: number | undefined;
  /** Whether the word begins a segment. */
  readonly isFirst: boolean;
};

export type WrittenFileOptions = Pick<
  FileOptions,
  "punctuatedWords" | "detectsSpeakers" | "paragraphs" | "utteranceSplitSeconds"
>;

/** Returns the results of a recording, which has one channel and one alternative. */
export function writeFileResults(segments: readonly SpokenSegment[], options: WrittenFileOptions) {
  const { punctuatedWords: punctuated, paragraphs, utteranceSplitSeconds } = options;
  const words = wordsOf(segments, options.detectsSpeakers);
  const alternative = {
    transcript: textOf(words),
    confidence: confidenceOf(words),
    words: words.map((word) => wordOf(word, { punctuated, speaker: word.speaker })),
    ...(paragraphs && { paragraphs: paragraphsOf(words) }),
  };
  return {
    channels: [{ alternatives: [alternative] }],
    ...(utteranceSplitSeconds !== undefined && {
      utterances: splitAt(words, (word, before) => {
        const isPause = word.startMs - before.endMs >= utteranceSplitSeconds * 1000;
        return isPause || word.speaker !== before.speaker;
      }).map((part) => utteranceOf(part, punctuated)),
    }),
  };
}

function wordsOf(segments: readonly SpokenSegment[], detectsSpeakers: boolean): Word[] {
  const speakers = [...new Set(segments.map(({ speakerId }) => speakerId))];
  return segments.flatMap(({ words, speakerId }) =>
    words.map((word, index) => ({
      ...word,
      speaker: detectsSpeakers ? speakers.indexOf(speakerId) : undefined,
      isFirst: index === 0,
    })),
  );
}

function utteranceOf(words: readonly Word[], punctuated: boolean) {
  const speaker = words[0]?.speaker;
  return {
    ...spanOf(words),
    confidence: confidenceOf(words),
    channel: 0,
    transcript: textOf(words),
    words: words.map((word) => wordOf(word, { punctuated, speaker: word.speaker })),
    ...(speaker !== undefined && { speaker }),
    id: newId(),
  };
}

/** A paragraph is what one speaker says without a long pause. */
function paragraphsOf(words: readonly Word[]) {
  const parts = splitAt(
    words,
    (word, before) =>
      word.speaker !== before.speaker || word.startMs - before.endMs >= paragraphPauseMs,
  );
  const paragraphs = parts.map((part) => ({
    sentences: splitAt(part, (word, before) => word.isFirst || endsSentence(before)).map(
      (sentence) => ({ text: textOf(sentence), ...spanOf(sentence) }),
    ),
    num_words: part.length,
    ...spanOf(part),
    ...(part[0]?.speaker !== undefined && { speaker: part[0].speaker }),
  }));
  return { transcript: `\n${parts.map(textOf).join("\n\n")}`, paragraphs };
}

const paragraphPauseMs = 2_000;

function endsSentence({ text }: Word): boolean {
  return /[.!?…]["”“']?$/u.test(text.trim());
}

function splitAt(
  words: readonly Word[],
  isSplit: (word: Word, before: Word) => boolean,
): (readonly Word[])[] {
  const parts: Word[][] = [];
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    if (!before || isSplit(word, before)) parts.push([word]);
    else parts.at(-1)?.push(word);
  }
  return parts;
}

function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text.trim()).join(" ");
}

function spanOf(words: readonly Word[]): { readonly start: number; readonly end: number } {
  return { start: seconds(words[0]?.startMs ?? 0), end: seconds(words.at(-1)?.endMs ?? 0) };
}

/** Returns the mean confidence; 0 without words. */
function confidenceOf(words: readonly Word[]): number {
  if (words.length === 0) return 0;
  return words.reduce((sum, { confidence = 1 }) => sum + confidence, 0) / words.length;
}
