/** The maximum number of bytes in a name, and in a path, on common file systems. */
const nameBytesMax = 255;
const pathBytesMax = 1024;

/**
 * Returns the names in an archive entry's path; the list is empty for the archive's root. If the
 * path is rejected, returns the reason as a string.
 */
export function archivePath(path: string): readonly string[] | string {
  // oxlint-disable-next-line no-control-regex -- the expression looks for them
  if (/[\u0000-\u001F\u007F\\]/.test(path))
    return "has a control character or a backslash in its path";
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "has an absolute path";
  if (Buffer.byteLength(path) > pathBytesMax) return `is longer than ${pathBytesMax} bytes`;
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return 'has ".." in its path';
  if (names.some((name) => Buffer.byteLength(name) > nameBytesMax)) {
    return `has a name longer than ${nameBytesMax} bytes`;
  }
  return names;
}
