/**
 * Characters that a file system or a header parser could misread, and characters that change the
 * direction of text, which could hide the extension.
 */
const unsafe = /[\p{Cc}\p{Cs}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff<>:"/\\|?*%]+/gu;
/** The names that are reserved on Windows, with any extension. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
/**
 * The maximum size of a name in bytes without its extension. Most file systems accept 255 bytes
 * including the extension.
 */
const bytesMax = 200;

/**
 * Returns a file name from a transcript's subject; "transcript" if nothing of the subject remains.
 */
export function fileNameOf(subject: string, ending: string): string {
  const clean = subject
    .normalize("NFC")
    .replaceAll(unsafe, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/^[. ]+|[. ]+$/g, "");
  const base = shortened(clean).trimEnd();
  const name = base === "" ? "transcript" : base;
  return `${reserved.test(name) ? `${name}_` : name}.${ending}`;
}

/**
 * Returns the header that makes a browser save a response (RFC 6266), with the name in ASCII and in
 * full (RFC 8187).
 */
export function attachmentHeader(name: string): string {
  const ascii = name
    .replaceAll(/[þÞðÐæÆøØ]/g, (letter) => letters[letter] ?? "_")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^ -~]/gu, "_");
  if (ascii === name) return `attachment; filename="${name}"`;
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (mark) => {
    return `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}

const letters: Readonly<Record<string, string>> = {
  þ: "th",
  Þ: "Th",
  ð: "d",
  Ð: "D",
  æ: "ae",
  Æ: "Ae",
  ø: "o",
  Ø: "O",
};

function shortened(text: string): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > bytesMax) break;
    end += character.length;
  }
  return text.slice(0, end);
}
