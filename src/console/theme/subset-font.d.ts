declare module "subset-font" {
  /**
   * Returns a font with only the characters of `text`, and with its axes limited to the given
   * ranges.
   */
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: {
      readonly targetFormat: "woff2";
      readonly keepFeatures: readonly string[];
      readonly variationAxes: Readonly<
        Record<string, { readonly min: number; readonly max: number; readonly default: number }>
      >;
    },
  ): Promise<Uint8Array>;
}
