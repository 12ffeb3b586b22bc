import { strToU8, zipSync, type Zippable } from "fflate";

/** The files of a package in their order, by path. */
export type PackageFiles = readonly (readonly [path: string, content: string])[];

/** The earliest time that a ZIP archive can name: equal documents have equal bytes. */
const mtime = new Date(1980, 0, 1);

/**
 * Writes the files of a document as a ZIP archive. `stored` is the path of a file that is not
 * compressed, so that programs can recognize the format by its bytes.
 */
export function zipPackage(files: PackageFiles, stored?: string): Uint8Array {
  const zipped: Zippable = {};
  for (const [path, content] of files) {
    zipped[path] = [strToU8(content), { level: path === stored ? 0 : 6, mtime }];
  }
  return zipSync(zipped);
}
