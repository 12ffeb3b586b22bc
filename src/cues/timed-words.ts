/** A word with its time, including the whitespace before the next word. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Words of one speaker, ordered by their start: a segment or a paragraph. */
export interface TimedWords {
  /** The id of the speaker; empty if unknown. */
  readonly speakerId: string;
  readonly words: readonly TimedWord[];
}
