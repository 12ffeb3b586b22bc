import { paragraphEnd } from "../../std/paragraph-end.ts";
import type { SpokenSegment, SpokenWord } from "../spoken.ts";

/** A paragraph of a document: a segment, or a part of a segment that is too long. */
export interface DocumentParagraph {
  /** The name of the speaker, if the paragraph begins the speaker's turn; otherwise "". */
  readonly turnOf: string;
  readonly parts: readonly DocumentPart[];
}

/** Text, and the time that is shown before it. */
export interface DocumentPart {
  /** The time, as 00:01:23; "" if none is shown. */
  readonly time: string;
  readonly text: string;
}

/** What a file shows in addition to the text. */
export interface FileOptions {
  readonly speakers: boolean;
  /** Whether each paragraph shows the time at which it begins. */
  readonly times: boolean;
  /** After how many seconds a paragraph shows the time again; 0 for never. */
  readonly intervalSeconds: number;
  readonly title: boolean;
}

/**
 * Yields the paragraphs of a document as the console shows them: one for each segment with text,
 * and more for a segment of more than 150 words.
 */
export function* documentParagraphs(
  segments: readonly SpokenSegment[],
  nameOf: (speakerId: string) => string,
  options: FileOptions,
): Generator<DocumentParagraph> {
  let lastSpeakerId = "";
  for (const { speakerId, words } of segments) {
    for (let from = 0; from < words.length;) {
      const end = paragraphEnd(words.length, from, (at) => words[at]?.text ?? "");
      const parts = partsOf(words.slice(from, end), options);
      from = end;
      if (parts.length === 0) continue;
      const isTurn = options.speakers && speakerId !== lastSpeakerId;
      yield { turnOf: isTurn ? folded(nameOf(speakerId)) : "", parts };
      lastSpeakerId = speakerId;
    }
  }
}

/** Divides words at the times that are shown; words without text have no part. */
export function partsOf(words: readonly SpokenWord[], options: FileOptions): DocumentPart[] {
  const { times, intervalSeconds } = options;
  const parts: DocumentPart[] = [];
  let time = "";
  let fromMs = 0;
  let text = "";
  const flush = (): void => {
    const clean = folded(text);
    if (clean !== "") parts.push({ time, text: clean });
    text = "";
  };
  for (const { text: said, startMs } of words) {
    const isFirst = parts.length === 0 && text.trim() === "";
    const isDue = intervalSeconds > 0 && startMs - fromMs >= intervalSeconds * 1000;
    if (times && (isFirst || isDue)) {
      flush();
      time = clockText(startMs);
      fromMs = startMs;
    }
    text += said;
  }
  flush();
  return parts;
}

/** Writes a time as hours, minutes and seconds, without the fraction. */
function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return [seconds / 3600, (seconds / 60) % 60, seconds % 60]
    .map((value) => `${Math.floor(value)}`.padStart(2, "0"))
    .join(":");
}

/** Replaces whitespace with single spaces, as in a line of text. */
export function folded(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}
