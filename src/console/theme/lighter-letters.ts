import subsetFont from "subset-font";
import type { Plugin } from "vite";

/**
 * The weights that the console is set in (theme/, parts/): regular to semibold, of faces that have
 * thin and black as well.
 */
const weights = { min: 400, max: 600, default: 400 };

/**
 * The faces of Latin letters; those of others are fetched only where there are such letters, and
 * stay whole.
 */
const isLatin = /-latin-wght-normal-[^/]*\.woff2$/;

/** What Fontsource says that these faces are for (unicode-range). */
const letters = lettersOf(
  "0-FF,131,152-153,2BB-2BC,2C6,2DA,2DC,304,308,329,2000-206F,20AC,2122,2191,2193,2212,2215,FEFF,FFFD",
);

/**
 * A Vite plugin: leaves out of the Latin faces the weights that nothing is set in, a third of what
 * they weigh.
 */
export function lighterLetters(): Plugin {
  return {
    name: "lighter-letters",
    async generateBundle(_options, bundle) {
      const variationAxes = { wght: weights };
      for (const file of Object.values(bundle)) {
        if (file.type !== "asset" || !isLatin.test(file.fileName)) continue;
        const face = Buffer.from(file.source);
        file.source = await subsetFont(face, letters, { targetFormat: "woff2", variationAxes });
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
