/**
 * Creates a title from a file name: without the extension, and with spaces instead of _ and + if
 * the name has no spaces.
 */
export function subjectOfName(name: string): string {
  const stem = name.replace(/\.[^./\s]{1,5}$/, "");
  const isSpaced = /\s/.test(stem);
  return (isSpaced ? stem : stem.replaceAll(/[_+]+/g, " ")).normalize("NFC").trim();
}

/** Creates a title from the last part of a URL's path, or from its host. */
export function subjectOfUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (!url) return "";
  const last = url.pathname.split("/").findLast((part) => part !== "") ?? "";
  return subjectOfName(decoded(last)) || url.hostname;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
