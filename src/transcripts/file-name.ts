/**
 * Characters that some file system or reader of headers takes for something else; those that turn
 * the direction of text hide a name's end.
 */
const unsafe = /[\p{Cc}\p{Cs}\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff<>:"/\\|?*%]+/gu;
/** Of Windows, with any ending. */
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
/** Most file systems take 255, with the ending. */
const bytesMax = 200;

/** A file name made of a transcript's subject; "transcript" where nothing is left of it. */
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
 * The header that makes a browser save an answer (RFC 6266): the name in ASCII, and as it is (RFC
 * 8187).
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
