/**
 * What became of consecutive words of the base: one unchanged word, or words [from, to) that were
 * replaced by other words, inserted (from = to) or deleted (no texts).
 */
export type Block =
  | { readonly kind: "unchanged"; readonly word: number; readonly text: string }
  | {
      readonly kind: "changed";
      readonly from: number;
      readonly to: number;
      readonly texts: readonly string[];
    };
