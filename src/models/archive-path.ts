/** Bytes of a name, and of all names of a path, that file systems take. */
const nameBytesMax = 255;
const pathBytesMax = 1024;

/**
 * The path of an archive's entry as its names; empty for the archive's own root. A text says why it
 * is refused.
 */
export function archivePath(path: string): readonly string[] | string {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\u0000-\u001F\u007F\\]/.test(path)) return "has a character that no path should have";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "begins at the root";
  if (Buffer.byteLength(path) > pathBytesMax) return `is longer than ${pathBytesMax} bytes`;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return "steps up";
  if (names.some((name) => Buffer.byteLength(name) > nameBytesMax)) {
    return `has a name longer than ${nameBytesMax} bytes`;
  }
  return names;
}
