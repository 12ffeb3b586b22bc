/** A normalized word, with the range of the source words that it was made from. */
export interface Token {
  readonly text: string;
  /** The index of the first source word. */
  readonly from: number;
  /** The index after the last source word. */
  readonly to: number;
}
