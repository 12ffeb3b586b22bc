import { Buffer, isUtf8 } from "node:buffer";

/** Decodes every escape. Throws URIError for a broken escape or bytes that are not UTF-8. */
export function decodeFully(text: string): string {
  return text.includes("%") ? decodeURIComponent(text) : text;
}

/** Decodes every escape but "%2F", which stays as written (§4.10 item 6). Throws URIError. */
export function decodeKeepingSlashes(text: string): string {
  if (!text.includes("%")) return text;
  return decodeURIComponent(text.replace(/%2f/gi, (escape) => `%25${escape.slice(1)}`));
}

/** Whether every escape is whole and the bytes of each run of escapes are UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeFully(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Some clients send UTF-8 in a request target as it is; node:http hands it over a byte a character. Answers
 * the text meant, undefined when the bytes are not UTF-8.
 */
export function utf8OfRawBytes(text: string): string | undefined {
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return text;
  const bytes = Buffer.from(text, "latin1");
  return isUtf8(bytes) ? bytes.toString() : undefined;
}
