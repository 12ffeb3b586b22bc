declare module "subset-font" {
  /** The part of a font that sets `text`, with its axes cut to ranges. */
  export default function subsetFont(
    font: Uint8Array,
    text: string,
    options: {
      readonly targetFormat: "woff2";
      readonly variationAxes: Readonly<
        Record<string, { readonly min: number; readonly max: number; readonly default: number }>
      >;
    },
  ): Promise<Uint8Array>;
}
