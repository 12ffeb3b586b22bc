/** A subtitle, shown from `startMs` to before `endMs`. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** Empty: unknown. */
  readonly speakerId: string;
  readonly lines: readonly string[];
}
