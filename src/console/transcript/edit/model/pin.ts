/**
 * Times that a user has set for a word that was typed, and that is not in the base. A pin is a
 * place in the text of a paragraph, and moves with its letters.
 */
export interface Pin {
  /** In UTF-16 code units. */
  readonly from: number;
  readonly to: number;
  /** Durations in proto3 JSON. */
  readonly startTime: string;
  readonly endTime: string;
}
