/** Characters that XML 1.0 does not allow, even escaped, and unpaired surrogates. */
const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const marks: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/**
 * Escapes text for the content of an XML element, and for an attribute in double quotes. Leaves out
 * characters that XML cannot contain.
 */
export function xmlText(text: string): string {
  return text.replaceAll(forbidden, "").replaceAll(/[&<>"\t\n\r]/g, (mark) => marks[mark] ?? "");
}

/** The declaration at the start of each XML file. */
export const xmlHead = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
