/** A recognized word. Its times count from the start of the recording. */
export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** What was said in a recording, and what was recognized. */
export interface ScorableText {
  readonly languageCode: string;
  /** The reference text. */
  readonly text: string;
  /** The recognized words, without spaces in them, in order. */
  readonly recognized: readonly TimedWord[];
  readonly durationMs: number;
}
