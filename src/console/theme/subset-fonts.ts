import subsetFont from "subset-font";
import type { Plugin } from "vite";

/** The font weights that the console uses (theme/, parts/): regular to semibold. */
const weights = { min: 400, max: 600, default: 400 };

/**
 * Matches the Latin fonts. Fonts for other scripts are loaded only when needed, and are not subset.
 */
const isLatin = /-latin-wght-normal-[^/]*\.woff2$/;

/** The characters in these fonts, according to Fontsource (unicode-range). */
const letters = lettersOf(
  "0-FF,131,152-153,2BB-2BC,2C6,2DA,2DC,304,308,329,2000-206F,20AC,2122,2191,2193,2212,2215,FEFF,FFFD",
);

/**
 * The OpenType features that the Latin fonts keep: kerning, ligatures, forms that depend on the
 * letters around or on the language, and the digits that styles choose. Small capitals, fractions
 * and anchors of combining marks, which no style or text of these letters uses, are removed.
 */
const keepFeatures = ["kern", "liga", "calt", "locl", "lnum", "tnum"];

/**
 * Returns a Vite plugin that removes weights and features that are not used, half of the size, from
 * the Latin fonts.
 */
export function subsetFonts(): Plugin {
  return {
    name: "subset-fonts",
    async generateBundle(_options, bundle) {
      const variationAxes = { wght: weights };
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !isLatin.test(file.fileName)) continue;
        const font = Buffer.from(file.source);
        file.source = await subsetFont(font, letters, {
          targetFormat: "woff2",
          variationAxes,
          keepFeatures,
        });
      }
    },
  };
}

function lettersOf(ranges: string): string {
  return ranges
    .split(",")
    .flatMap((range) => {
      const [first = 0, last = first] = range.split("-").map((end) => Number.parseInt(end, 16));
      return Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));
    })
    .join("");
}
