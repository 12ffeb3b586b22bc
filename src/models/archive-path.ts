/** Most bytes of a name, and of a path, on common file systems. */
const nameBytesMax = 255;
const pathBytesMax = 1024;

/**
 * The names of an archive entry's path; empty for the archive's root. A string is the reason why
 * the path is rejected.
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
