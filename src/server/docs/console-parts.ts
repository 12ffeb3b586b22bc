import { readdirSync } from "node:fs";
import { join } from "node:path";

/** The files of the built console that the API reference uses, as paths below /console/. */
export interface ConsoleParts {
  /** The script and the style sheet that call methods with the session of the console. */
  readonly script: string;
  readonly styles: string;
  /** The fonts by their family. */
  readonly fonts: ReadonlyMap<string, string>;
}

const fontFiles = {
  "Inter Variable": /^inter-latin-wght-normal-.*\.woff2$/,
  "Source Serif 4 Variable": /^source-serif-4-latin-wght-normal-.*\.woff2$/,
} as const;

/**
 * Finds the parts of the reference in the folder of the built console; undefined if the console is
 * not built. The names of the files change with their content.
 */
export function findConsoleParts(folder: string): ConsoleParts | undefined {
  const names = namesIn(join(folder, "assets"));
  const pathOf = (pattern: RegExp): string | undefined => {
    const name = names.find((each) => pattern.test(each));
    return name === undefined ? undefined : `console/assets/${name}`;
  };
  const script = pathOf(/^reference-[\w-]+\.js$/);
  const styles = pathOf(/^reference-[\w-]+\.css$/);
  if (script === undefined || styles === undefined) return undefined;
  const fonts = Object.entries(fontFiles).flatMap(([family, pattern]): [string, string][] => {
    const path = pathOf(pattern);
    return path === undefined ? [] : [[family, path]];
  });
  return { script, styles, fonts: new Map(fonts) };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns the font faces, for a style sheet in /docs/. */
export function fontFaces(fonts: ConsoleParts["fonts"]): string {
  return Array.from(
    fonts,
    ([family, path]) => `@font-face {
  font-family: "${family}";
  font-weight: 400 600;
  font-display: swap;
  src: url("../${path}") format("woff2");
}
`,
  ).join("");
}
