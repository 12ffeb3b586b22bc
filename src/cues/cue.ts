/** A subtitle, shown from `startMs` to before `endMs`. */
export interface Cue {
  readonly startMs: number;
  readonly endMs: number;
  /** The id of the speaker; empty if unknown. */
  readonly speakerId: string;
  readonly lines: readonly string[];
  /** The number of visible characters, with the spaces between words. */
  readonly chars: number;
}
