/** A subtitle: what is read from `startMs` to before `endMs`. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Empty: nobody knows. */
  readonly speakerId: string;
  readonly lines: readonly string[];
}
